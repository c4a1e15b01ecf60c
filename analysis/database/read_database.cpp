#include <fmt/format.h>

#include "analysis/database/database.h"
#include "analysis/database/profile_file.h"
#include "analysis/database/read.h"
#include "analysis/database/stored_values.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

void require_files(const fs::path& directory) {
  const auto missing = [&](DatabaseError::Kind kind, std::string_view cause, std::string_view remedy) {
    throw DatabaseError(kind, fmt::format("{}: not a database: {}; {}", directory.string(), cause, remedy));
  };
  constexpr std::string_view kGive = "give the directory that `prof analyze` or HPCToolkit's hpcprof wrote";
  if (!fs::is_directory(directory)) {
    missing(DatabaseError::Kind::NotADatabase,
            fs::exists(directory) ? "it is not a directory" : "it does not exist", kGive);
  }
  if (!fs::exists(directory / format::kMeta.name) && fs::exists(directory / "experiment.xml")) {
    missing(DatabaseError::Kind::WrongVersion, "experiment.xml is HPCToolkit's format of version 3 or older",
            "analyze the measurements again with a newer HPCToolkit");
  }
  for (const auto& kind : {format::kMeta, format::kProfile}) {
    if (!fs::exists(directory / kind.name)) {
      missing(DatabaseError::Kind::NotADatabase, fmt::format("{} is missing", kind.name), kGive);
    }
  }
}

}  // namespace

Database read_database(const fs::path& directory, ReadValues when) try {
  require_files(directory);
  Database database;
  const auto index = std::make_shared<MetaIndex>();
  read_meta(directory, database, *index);
  auto profiles = std::make_unique<const ProfileFile>(directory, index, database);
  const std::vector<uint32_t> profile_indices = profiles->model_indices();
  for (const ProfileId& id : profiles->ids()) database.profiles.push_back({id, {}, 0});
  if (when == ReadValues::WhenAskedFor && has_all_sums(*profiles))
    database.stored = std::make_shared<const StoredValues>(std::move(profiles));
  else
    read_values(*profiles, database);
  // cct.db repeats profile.db in another order, so it is only checked to be complete.
  if (fs::exists(directory / format::kCct.name)) InputFile(directory, format::kCct);
  read_traces(directory, *index, profile_indices, database);
  read_run(directory, database);
  read_launches(directory, database);
  return database;
} catch (const fs::filesystem_error& error) {
  throw DatabaseError(DatabaseError::Kind::Unreadable,
                      fmt::format("{}: cannot read: {}; check the path and its permissions",
                                  directory.string(), error.code().message()));
}

}  // namespace prof
