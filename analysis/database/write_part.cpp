#include <fmt/format.h>

#include "analysis/database/write.h"

namespace prof {

OutputFile begin_part(const std::filesystem::path& directory, const format::FileKind& kind, Team& team) {
  if (team.is_first()) return team.is_shared() ? OutputFile(directory, kind, 0) : OutputFile(directory, kind);
  return OutputFile(team.folder() / fmt::format("{}.part.{}", kind.name, team.rank()));
}

void end_part(OutputFile part, const std::filesystem::path& directory, const format::FileKind& kind,
              Team& team) {
  std::vector<uint64_t> bytes(static_cast<size_t>(team.size()));
  const auto own = static_cast<size_t>(team.rank());
  bytes[own] = part.offset();
  // The file is there when the first process has said how much it wrote.
  if (team.is_first()) part.close();
  team.share(
      fmt::format("{}.bytes", kind.name), [] {}, [&](Packer& out) { out(bytes[own]); },
      [&](Unpacker& in, int rank) { in(bytes[static_cast<size_t>(rank)]); });
  uint64_t begin = 0;
  for (size_t before = 0; before < own; ++before) begin += bytes[before];
  if (!team.is_first()) part.move_to(directory / kind.name, begin);
}

}  // namespace prof
