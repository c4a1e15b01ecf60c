#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

// Names end with the writer's process number.
std::string sibling_prefix(const fs::path& directory) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format(".{}.writing-{}-", directory.filename().string(), host.data());
}

// What writers that were killed left behind: they ran on this machine and no longer do.
void remove_abandoned_siblings(const fs::path& directory) {
  const std::string prefix = sibling_prefix(directory);
  std::vector<fs::path> abandoned;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    pid_t writer = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data() + prefix.size(), end, writer).ptr != end || writer <= 0) continue;
    if (::kill(writer, 0) != 0 && errno == ESRCH) abandoned.push_back(entry.path());
  }
  for (const fs::path& sibling : abandoned) fs::remove_all(sibling, error);
}

// A sibling, because only a rename within one file system is atomic. Removed when it was not moved away.
class TemporarySibling {
 public:
  explicit TemporarySibling(const fs::path& directory)
      : path_(directory.parent_path() / fmt::format("{}{}", sibling_prefix(directory), ::getpid())) {
    remove_abandoned_siblings(directory);
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  TemporarySibling(const TemporarySibling&) = delete;
  ~TemporarySibling() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Nothing reads a database without meta.db: it goes first and comes last.
void replace_files(const fs::path& from, const fs::path& to) {
  constexpr std::array kOptional = {format::kTrace.name, format::kLaunchFile, format::kInstructionFile};
  fs::remove(to / format::kMeta.name);
  fs::remove_all(to / format::kSourceFolder);
  if (fs::exists(from / format::kSourceFolder))
    fs::rename(from / format::kSourceFolder, to / format::kSourceFolder);
  fs::create_directories((to / format::kTaxonomyFile).parent_path());
  for (const auto name :
       {format::kTaxonomyFile, format::kRunFile, format::kCct.name, format::kProfile.name}) {
    fs::rename(from / name, to / name);
  }
  for (const auto name : kOptional) {
    if (fs::exists(from / name))
      fs::rename(from / name, to / name);
    else
      fs::remove(to / name);
  }
  if (fs::exists(from / format::kFindingsFile))
    fs::rename(from / format::kFindingsFile, to / format::kFindingsFile);
  fs::rename(from / format::kMeta.name, to / format::kMeta.name);
}

fs::path without_trailing_slash(const fs::path& directory) {
  const fs::path absolute = fs::absolute(directory).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

}  // namespace

std::vector<Summary> write_database(const Database& database, const fs::path& directory, int jobs) {
  return write_database(database, directory, jobs, Team::alone());
}

std::vector<Summary> write_database(const Database& database, const fs::path& directory, int jobs, Team& team,
                                    const Completion& complete) try {
  require_place_for_database(directory);
  validate(database);

  const fs::path target = without_trailing_slash(directory);
  std::optional<TemporarySibling> temporary;
  fs::path place;  // while it is written
  if (team.is_shared()) {
    place = team.folder() / "database";
    if (team.is_first()) fs::create_directories(place);
  } else {
    place = temporary.emplace(target).path();
  }
  if (team.is_first()) write_meta(database, write_sources(database, place), place);
  const WrittenProfiles written = write_profiles(database, place, jobs, team);
  WrittenContexts contexts = write_contexts(database, written, place, jobs, team);
  write_traces(database, place, jobs, team);
  if (!team.is_first()) {
    if (complete) complete(place, {});
    return {};
  }
  finish_profiles(database, written, contexts, place);
  // Of an analysis that was interrupted behind this.
  for (const std::string_view table : {format::kLaunchFile, format::kInstructionFile})
    fs::remove(place / table);
  write_launches(database, place);
  write_instructions(database, place);
  write_taxonomy(database, place);
  write_run(database, place);

  if (complete) complete(place, contexts.summaries);
  if (fs::exists(target)) {
    replace_files(place, target);
  } else {
    fs::rename(place, target);
  }
  return std::move(contexts.summaries);
} catch (const fs::filesystem_error& error) {
  throw DatabaseError(DatabaseError::Kind::Unwritable,
                      fmt::format("{}: cannot write a database there: {}; choose another directory with -o",
                                  directory.string(), error.code().message()));
}

}  // namespace prof
