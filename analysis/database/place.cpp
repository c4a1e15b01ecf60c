// Decides where a database may be written: never over other files.

#include <fmt/format.h>

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/files/folder.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

bool begins_with_magic(const fs::path& file) {
  const RegularFile opened(file);
  return opened.is_open() && opened.read(0, format::kMagic.size()) == format::kMagic;
}

}  // namespace

bool is_database(const fs::path& directory) {
  // A database whose replacement was interrupted has no meta.db, but is still a database.
  return begins_with_magic(directory / format::kMeta.name) ||
         begins_with_magic(directory / format::kProfile.name);
}

void require_place_for_database(const fs::path& directory) {
  const auto refuse = [&](std::string_view cause) {
    throw DatabaseError(DatabaseError::Kind::Unwritable,
                        fmt::format("{}: {}; choose another directory with -o", directory.string(), cause));
  };
  std::error_code error;
  if (!fs::exists(directory, error) && !error) return;
  if (!error && !fs::is_directory(directory, error)) refuse("no directory");
  const bool is_empty = !error && fs::is_empty(directory, error);
  if (error) refuse(error.message());
  if (!is_empty && !is_database(directory)) refuse("holds other files");
}

void invalidate_database(const fs::path& directory) {
  if (is_database(directory) && !Folder(directory).remove(std::string(format::kMeta.name)))
    throw fs::filesystem_error("cannot remove", directory / format::kMeta.name,
                               std::error_code(errno, std::generic_category()));
}

}  // namespace prof
