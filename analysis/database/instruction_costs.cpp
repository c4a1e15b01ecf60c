#include "analysis/database/instruction_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/database/sqlite_file.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

// SQLite's integers are signed. No file's code has a larger offset.
constexpr uint64_t kMaxOffset = INT64_MAX;

void require_version(const SqliteFile& file, const fs::path& path) {
  SqliteRows version = file.prepare("PRAGMA user_version");
  version.step();
  if (version.number(0) == format::kInstructionVersion) return;
  throw DatabaseError(
      DatabaseError::Kind::WrongVersion,
      fmt::format("{}: version {}, but this prof reads {}; use the prof that wrote it", path.string(),
                  static_cast<int64_t>(version.number(0)), format::kInstructionVersion));
}

}  // namespace

bool write_instructions(const Database& database, const fs::path& directory) {
  if (database.instructions.empty()) return false;
  const SqliteFile file(directory / format::kInstructionFile, SqliteFile::Mode::Write);
  file.execute(fmt::format("PRAGMA user_version = {}", format::kInstructionVersion).c_str());
  // Rows are stored in the order of the key, in which they are read.
  file.execute(
      "CREATE TABLE instruction (module INTEGER NOT NULL, offset INTEGER NOT NULL, metric INTEGER NOT NULL, "
      "value REAL NOT NULL, PRIMARY KEY (module, offset, metric)) WITHOUT ROWID");
  SqliteRows insert = file.prepare("INSERT INTO instruction VALUES (?, ?, ?, ?)");
  for (const InstructionCost& cost : database.instructions) {
    if (cost.offset > kMaxOffset) continue;
    insert.bind(0, uint64_t{cost.module});
    insert.bind(1, cost.offset);
    insert.bind(2, uint64_t{cost.metric});
    insert.bind(3, cost.value);
    insert.execute();
  }
  file.commit();
  return true;
}

std::optional<std::vector<InstructionCost>> read_instruction_costs(const fs::path& directory,
                                                                   const Database& database, uint32_t module,
                                                                   uint64_t begin, uint64_t end) {
  const fs::path path = directory / format::kInstructionFile;
  if (!fs::exists(path)) return {};
  const SqliteFile file(path, SqliteFile::Mode::Read);
  require_version(file, path);
  SqliteRows rows = file.prepare(
      "SELECT offset, metric, value FROM instruction WHERE module = ? AND offset >= ? AND offset < ? "
      "ORDER BY offset, metric");
  rows.bind(0, uint64_t{module});
  rows.bind(1, std::min(begin, kMaxOffset));
  rows.bind(2, std::min(end, kMaxOffset));
  std::vector<InstructionCost> costs;
  while (rows.step()) {
    const double value = rows.real(2);
    // Rows with an invalid reference are skipped, as in launches.sqlite.
    if (rows.number(1) >= database.metrics.size() || !std::isfinite(value)) continue;
    costs.push_back({module, rows.number(0), static_cast<uint32_t>(rows.number(1)), value});
  }
  return costs;
}

}  // namespace prof
