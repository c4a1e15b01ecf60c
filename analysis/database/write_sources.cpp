// Copies of source files in src/, under their absolute paths.

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/database/input.h"
#include "analysis/database/output.h"
#include "analysis/database/write.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kLargestSource = 64u << 20;  // held in memory; whoever marks files has a lower limit

bool copy_source(const fs::path& path, const fs::path& copy) {
  std::string text;
  try {
    text = read_text_file(path, kLargestSource);
  } catch (const DatabaseError&) {
    return false;  // gone, or not for us: the database is as good without it
  }
  fs::create_directories(copy.parent_path());
  write_text_file(copy, text);
  return true;
}

}  // namespace

std::vector<bool> write_sources(const Database& database, const fs::path& directory) {
  std::vector<bool> copied;
  for (const SourceFile& file : database.files) {
    const fs::path path = fs::path(file.path).lexically_normal();
    copied.push_back(file.copied &&
                     copy_source(path, directory / format::kSourceFolder / path.relative_path()));
  }
  return copied;
}

}  // namespace prof
