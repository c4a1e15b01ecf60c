// Copies of source files in src/, under their absolute paths.

#include "analysis/database/format.h"
#include "analysis/database/write.h"

namespace prof {

namespace fs = std::filesystem;

void write_sources(const Database& database, const fs::path& directory) {
  for (const SourceFile& file : database.files) {
    if (!file.copied) continue;
    const fs::path path = fs::path(file.path).lexically_normal();
    std::error_code gone;
    if (!fs::is_regular_file(path, gone)) continue;
    const fs::path copy = directory / format::kSourceFolder / path.relative_path();
    fs::create_directories(copy.parent_path());
    fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
  }
}

}  // namespace prof
