#include "prof/results/databases.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/files/folder.h"
#include "analysis/files/user_rights.h"
#include "analysis/pipeline/stored_files.h"
#include "hpcrun/measurement/regular_file.h"
#include "prof/base/message.h"
#include "prof/base/progress_bar.h"
#include "prof/base/terminal.h"
#include "prof/ranks/analysis_workers.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/report/report_command.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// File in a database with the state of the measurements that were analyzed.
constexpr char kStateFile[] = "measured";

int default_jobs(const AnalysisWorkers& workers) {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / workers.sharing_processors());
}

template <typename Work>
auto with_progress(AnalyzeOptions options, const Work& work) {
  ProgressBar bar;
  options.progress = [&bar](const char* stage, size_t done, size_t total) { bar.show(stage, done, total); };
  return work(options);
}

// The analysis frees the data of one rank before it reads the next one's. Memory that is returned to the
// kernel in between would have to be mapped again page by page.
void keep_freed_memory() {
  constexpr int kMaxThreshold = 32 << 20;  // malloc's limit
  constexpr int kMaxKept = 64 << 20;
  mallopt(M_MMAP_THRESHOLD, kMaxThreshold);
  mallopt(M_TRIM_THRESHOLD, kMaxKept);
}

fs::path analyze(const std::vector<fs::path>& directories, const fs::path& output,
                 const AnalyzeOptions& options) {
  keep_freed_memory();
  // Checked before the work, not only after it.
  require_place_for_database(output.empty() ? directories.front() / "database" : output);
  if (!output.empty() && has_measurements(output))
    fail(kOwnFailure, "{} holds measurements, not a database; choose another path with -o", output.string());
  const std::string state =
      options.workers->is_first() ? state_of_measurements(directories.front()) : std::string();
  const AnalyzeResult result = with_progress(
      options, [&](const AnalyzeOptions& showing) { return run_analyze(directories, output, showing); });
  for (const std::string& warning : result.warnings) remark_line(warning);
  if (options.workers->is_first()) try {
      write_own_file(result.database / kStateFile, state);
    } catch (const WriteError&) {
      remark("cannot write {}; the next report analyzes again", (result.database / kStateFile).string());
    }
  options.workers->finish();
  return result.database;
}

AnalyzeOptions default_options() {
  AnalyzeOptions options;
  options.jobs = default_jobs(AnalysisWorkers::alone());
  return options;
}

// Without these rights, the analysis of another user's directory is shown but not kept.
std::optional<UserRights> rights_if_possible(const fs::path& directory) try {
  return rights_for(directory);
} catch (const WriteError&) {
  return std::nullopt;
}

// The database is replaced by renaming, which requires write permission for both directories.
bool may_write_database(const fs::path& directory) {
  const fs::path database = directory / "database";
  const auto may = [](const fs::path& path, int how) {
    return faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0;
  };
  if (!may(directory, W_OK | X_OK) || (may(database, F_OK) && !may(database, W_OK | X_OK))) return false;
  try {
    const Folder folder(directory);
    return !folder.has("database") || Folder(database).owner() == folder.owner();
  } catch (const WriteError&) {
    return false;  // belongs to another user
  }
}

bool is_up_to_date(const fs::path& directory) {
  const fs::path database = directory / "database";
  const std::string analyzed = read_regular_file(database / kStateFile).value_or("");
  std::error_code missing;
  return fs::exists(database / "meta.db", missing) && analyzed == state_of_measurements(directory);
}

}  // namespace

// One of many processes reports an error.
fs::path analyze_with_workers(AnalyzeOptions options, const WorkersRequest& request) try {
  const std::unique_ptr<AnalysisWorkers> workers = join_workers(request);
  if (workers) options.workers = workers.get();
  if (options.jobs == 0) options.jobs = default_jobs(*options.workers);
  try {
    return analyze(request.directories, request.output, options);
  } catch (const std::exception&) {
    if (!options.workers->is_own_failure()) throw WorkersError("");
    throw;
  }
} catch (const WorkersError& error) {
  throw CommandError(kOwnFailure, error.what());
}

Database database_of(const fs::path& directory, ReadValues when) {
  const std::optional<UserRights> rights = rights_if_possible(directory);
  const fs::path database = directory / "database";
  if (is_up_to_date(directory)) return read_database(database, when);
  if (may_write_database(directory)) return read_database(analyze({directory}, {}, default_options()), when);
  remark("{} is not writable, so this analysis is not kept; use `prof analyze {} -o DATABASE` to keep it",
         database.string(), directory.string());
  Analysis analysis = with_progress(
      default_options(), [&](const AnalyzeOptions& showing) { return prof::analyze({directory}, showing); });
  for (const std::string& warning : analysis.warnings) remark_line(warning);
  return std::move(analysis.database);
}

void analyze_and_summarize(const fs::path& directory, const std::function<void()>& analyzed) {
  try {
    const fs::path database = analyze({directory}, {}, default_options());
    if (analyzed) analyzed();
    if (is_quiet()) return;
    report(read_database(database, ReadValues::WhenAskedFor), ReportOptions{}, stderr, wants_colour(stderr));
    show_line(database.string());
  } catch (const std::exception& error) {
    say("the measurements in {} could not be analyzed: {}", directory.string(), error.what());
  }
}

Database open_database(const fs::path& path, ReadValues when) {
  if (is_database(path)) return read_database(path, when);
  if (has_measurements(path)) return database_of(path, when);
  if (is_measurement_file(path))
    fail(kOwnFailure, "{} is the measurement file of one process; use its directory, {}", path.string(),
         path.has_parent_path() ? path.parent_path().string() : ".");
  if (is_container(path))
    fail(kOwnFailure, "{} is the measurement file of one node; use its directory, {}", path.string(),
         path.has_parent_path() ? path.parent_path().string() : ".");
  // If the run is another user's, possibly only the database is readable.
  if (const fs::path file = unreadable_measurement(path); !file.empty()) {
    if (is_database(path / "database")) return read_database(path / "database", when);
    fail(kOwnFailure, "{}: permission denied; have its user run `prof analyze {} -o DATABASE`", file.string(),
         path.string());
  }
  return read_database(path, when);
}

}  // namespace prof
