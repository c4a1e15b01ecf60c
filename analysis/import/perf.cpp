#include <fmt/format.h>

#include "analysis/import/formats.h"

namespace prof {

bool is_perf_data(std::span<const uint8_t> bytes) {
  constexpr std::string_view kMagic = "PERFILE2";
  return bytes.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), bytes.begin());
}

Import import_perf(std::span<const uint8_t>, const ImportSource& source, const ImportOptions&) {
  throw ImportError(
      ImportError::Kind::Unsupported,
      fmt::format("{}: import its collapsed stacks instead (perf script | inferno-collapse-perf)",
                  source.name));
}

}  // namespace prof
