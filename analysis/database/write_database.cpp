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

// What an analysis that is interrupted has passed: all files are written, and those of an older database that
// the new one does not have are gone.
constexpr char kWritten[] = "written", kCleared[] = "cleared";

// Nothing reads a database without meta.db: it goes first.
void clear(const fs::path& from, const fs::path& to) {
  constexpr std::array kOptional = {format::kTrace.name, format::kLaunchFile, format::kInstructionFile};
  fs::remove(to / format::kMeta.name);
  fs::remove_all(to / format::kSourceFolder);
  for (const auto name : kOptional)
    if (!fs::exists(from / name)) fs::remove(to / name);
}

// What is not there any longer was moved before an interruption. meta.db comes last.
void move_files(const fs::path& from, const fs::path& to) {
  fs::create_directories((to / format::kTaxonomyFile).parent_path());
  for (const std::string_view name :
       {format::kSourceFolder, format::kTaxonomyFile, format::kRunFile, format::kCct.name,
        format::kProfile.name, format::kTrace.name, format::kLaunchFile, format::kInstructionFile,
        format::kFindingsFile, format::kMeta.name})
    if (fs::exists(from / name)) fs::rename(from / name, to / name);
}

void require_done(const fs::path& to) {
  if (fs::exists(to / format::kMeta.name)) return;
  throw DatabaseError(
      DatabaseError::Kind::Unwritable,
      fmt::format("{}: was written, and is there no longer; analyze again, without --resume", to.string()));
}

// After any interruption it can be called again.
void put_in_place(const fs::path& from, const fs::path& to, Team& team) {
  if (!fs::exists(from / format::kMeta.name)) return require_done(to);
  if (!fs::exists(to)) return fs::rename(from, to);
  if (!team.has_passed(kCleared)) {
    clear(from, to);
    team.pass(kCleared);
  }
  move_files(from, to);
}

fs::path without_trailing_slash(const fs::path& directory) {
  const fs::path absolute = fs::absolute(directory).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

std::vector<Summary> write_files(const Database& database, const fs::path& place, const Writers& writers,
                                 const Completion& complete) {
  const bool is_first = writers.team.is_first();
  if (is_first) {
    fs::create_directories(place);
    write_meta(database, write_sources(database, place), place);
  }
  const WrittenProfiles written = write_profiles(database, place, writers);
  WrittenContexts contexts = write_contexts(database, written, place, writers);
  write_traces(database, place, writers);
  if (!is_first) {
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
  return std::move(contexts.summaries);
}

}  // namespace

std::vector<Summary> write_database(const Database& database, const fs::path& directory, int jobs) {
  return write_database(database, directory, jobs, Team::alone());
}

std::vector<Summary> write_database(const Database& database, const fs::path& directory, int jobs, Team& team,
                                    const Completion& complete, const Progress& progress) try {
  require_place_for_database(directory);
  validate(database);

  const fs::path target = without_trailing_slash(directory);
  std::optional<TemporarySibling> temporary;
  fs::path place;  // while it is written
  if (team.is_shared()) {
    place = team.folder() / "database";
  } else {
    place = temporary.emplace(target).path();
  }
  std::vector<Summary> summaries;
  const bool was_written = team.has_passed(kWritten);
  if (!was_written) summaries = write_files(database, place, {jobs, team, progress}, complete);
  team.leave();
  if (!team.is_first()) return {};
  team.pass(kWritten);
  put_in_place(place, target, team);
  return was_written ? read_database(target, ReadValues::WhenAskedFor).summaries : std::move(summaries);
} catch (const fs::filesystem_error& error) {
  throw DatabaseError(DatabaseError::Kind::Unwritable,
                      fmt::format("{}: cannot write a database there: {}; choose another directory with -o",
                                  directory.string(), error.code().message()));
}

}  // namespace prof
