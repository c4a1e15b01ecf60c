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
#include "analysis/files/folder.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

// Names end with the writer's process ID.
std::string sibling_prefix(const fs::path& directory) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format(".{}.writing-{}-", directory.filename().string(), host.data());
}

// Removes what killed writers left: they ran on this machine and no longer do.
void remove_abandoned_siblings(const fs::path& directory) {
  const std::string prefix = sibling_prefix(directory);
  const Folder folder(directory.parent_path(), FolderOwner::Any);
  for (const std::string& name : folder.names()) {
    if (!name.starts_with(prefix)) continue;
    pid_t writer = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data() + prefix.size(), end, writer).ptr != end || writer <= 0) continue;
    if (::kill(writer, 0) != 0 && errno == ESRCH) folder.remove(name);
  }
}

// A sibling, because a rename is atomic only within one file system. Removed if it was not moved away.
class TemporarySibling {
 public:
  explicit TemporarySibling(const fs::path& directory)
      : path_(directory.parent_path() / fmt::format("{}{}", sibling_prefix(directory), ::getpid())),
        parent_(Folder::above(path_)) {
    remove_abandoned_siblings(directory);
    remove();
    Folder::make(path_);
  }
  TemporarySibling(const TemporarySibling&) = delete;
  ~TemporarySibling() { remove(); }
  const fs::path& path() const { return path_; }

 private:
  void remove() const { parent_.remove(path_.filename().string()); }

  fs::path path_;
  Folder parent_;
};

// Checkpoints of an analysis that can be resumed: all files are written, and those of an older database that
// the new one lacks are removed.
constexpr char kWritten[] = "written", kCleared[] = "cleared";

// Removes meta.db first: no database can be read without it.
void clear(const fs::path& from, const fs::path& to) {
  constexpr std::array<std::string_view, 3> kOptional = {format::kTrace.name, format::kLaunchFile,
                                                         format::kInstructionFile};
  const Folder folder(to);
  const auto remove = [&](std::string_view name) {
    if (!folder.remove(std::string(name)))
      throw fs::filesystem_error("cannot remove", to / name, {errno, std::generic_category()});
  };
  remove(format::kMeta.name);
  remove(format::kSourceFolder);
  for (const std::string_view name : kOptional)
    if (!fs::exists(from / name)) remove(name);
}

// Files that are missing were moved before an interruption. meta.db is moved last.
void move_files(const fs::path& from, const fs::path& to) {
  const auto folder_of = [](const fs::path& directory, std::string_view name) {
    return Folder::make((directory / name).parent_path());
  };
  for (const std::string_view name :
       {format::kSourceFolder, format::kTaxonomyFile, format::kRunFile, format::kCct.name,
        format::kProfile.name, format::kTrace.name, format::kLaunchFile, format::kInstructionFile,
        format::kFindingsFile, format::kMeta.name})
    if (fs::exists(from / name)) {
      const std::string last = fs::path(name).filename().string();
      folder_of(from, name).rename(last, folder_of(to, name), last);
    }
  Folder(to).share_with_others();
}

void require_done(const fs::path& to) {
  if (fs::exists(to / format::kMeta.name)) return;
  throw DatabaseError(
      DatabaseError::Kind::Unwritable,
      fmt::format("{}: was written but no longer exists; analyze again, without --resume", to.string()));
}

// Can be called again after any interruption.
void put_in_place(const fs::path& from, const fs::path& to, AnalysisWorkers& workers) {
  if (!fs::exists(from / format::kMeta.name)) return require_done(to);
  if (!fs::exists(to)) {
    const Folder above = Folder::above(to);
    return Folder::above(from).rename(from.filename().string(), above, to.filename().string());
  }
  if (!workers.has_passed(kCleared)) {
    clear(from, to);
    workers.pass(kCleared);
  }
  move_files(from, to);
}

fs::path without_trailing_slash(const fs::path& directory) {
  const fs::path absolute = fs::absolute(directory).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

std::vector<Summary> write_files(const Database& database, const fs::path& place, const Writers& writers,
                                 const Completion& complete) {
  const bool is_first = writers.workers.is_first();
  if (is_first) {
    Folder::make(place);
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
  // An analysis that was interrupted later than this may have left these.
  for (const std::string_view table : {format::kLaunchFile, format::kInstructionFile})
    Folder(place).remove(std::string(table));
  write_launches(database, place);
  write_instructions(database, place);
  write_taxonomy(database, place);
  write_run(database, place);
  if (complete) complete(place, contexts.summaries);
  return std::move(contexts.summaries);
}

}  // namespace

std::vector<Summary> write_database(const Database& database, const fs::path& directory, int jobs) {
  return write_database(database, directory, jobs, AnalysisWorkers::alone());
}

std::vector<Summary> write_database(const Database& database, const fs::path& directory, int jobs,
                                    AnalysisWorkers& workers, const Completion& complete,
                                    const Progress& progress) try {
  require_place_for_database(directory);
  validate(database);

  const fs::path target = without_trailing_slash(directory);
  std::optional<TemporarySibling> temporary;
  fs::path place;  // during the writing
  if (workers.is_shared()) {
    place = workers.folder() / "database";
  } else {
    place = temporary.emplace(target).path();
  }
  std::vector<Summary> summaries;
  const bool was_written = workers.has_passed(kWritten);
  if (!was_written) summaries = write_files(database, place, {jobs, workers, progress}, complete);
  workers.leave();
  if (!workers.is_first()) return {};
  workers.pass(kWritten);
  put_in_place(place, target, workers);
  return was_written ? read_database(target, ReadValues::WhenAskedFor).summaries : std::move(summaries);
} catch (const WriteError& error) {
  throw DatabaseError(DatabaseError::Kind::Unwritable, error.what());
} catch (const fs::filesystem_error& error) {
  throw DatabaseError(DatabaseError::Kind::Unwritable,
                      fmt::format("{}: cannot write a database: {}; choose another directory with -o",
                                  directory.string(), error.code().message()));
}

}  // namespace prof
