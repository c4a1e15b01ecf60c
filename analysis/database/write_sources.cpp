// Copies source files into src/, under their absolute paths.

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/database/output.h"
#include "analysis/database/write.h"
#include "analysis/files/folder.h"
#include "analysis/files/measured_file.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMaxSource = 64u << 20;  // held in memory; callers that mark files have a lower limit

// Returns false if the file is gone or not readable by all users that were measured. The database is complete
// without it.
bool copy_source(const fs::path& path, const std::vector<uid_t>& users, const fs::path& copy) {
  const std::optional<MeasuredFile> source = read_measured_file(path, users, kMaxSource);
  if (!source) return false;
  Folder::make(copy.parent_path());
  write_text_file(copy, source->text, source->mode | S_IRUSR | S_IWUSR);
  return true;
}

}  // namespace

std::vector<bool> write_sources(const Database& database, const fs::path& directory) {
  std::vector<bool> copied;
  for (const SourceFile& file : database.files) {
    const fs::path path = fs::path(file.path).lexically_normal();
    copied.push_back(file.copied && copy_source(path, database.measured_users,
                                                directory / format::kSourceFolder / path.relative_path()));
  }
  return copied;
}

}  // namespace prof
