#include "prof/ranks/analysis_workers.h"

#include <fmt/format.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "analysis/files/folder.h"
#include "prof/base/message.h"
#include "prof/base/release.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/ranks/parallel_job.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// The time to wait for the launcher to end this process, because the first one has printed the same error.
constexpr std::chrono::seconds kFirstRankTimeout{2};

fs::path folder_of(const WorkersRequest& request) {
  const fs::path database =
      request.output.empty() ? request.directories.front() / "database" : request.output;
  const fs::path absolute = fs::absolute(database).lexically_normal();
  const fs::path named = absolute.has_filename() ? absolute : absolute.parent_path();
  return named.parent_path() / fmt::format(".{}.parts", named.filename().string());
}

void require_directories(const WorkersRequest& request, int rank) {
  for (const fs::path& directory : request.directories) {
    std::error_code error;
    if (fs::is_directory(directory, error)) continue;
    if (rank != 0) std::this_thread::sleep_for(kFirstRankTimeout);
    fail(kOwnFailure, "{}: no such directory; use one that all processes can access", directory.string());
  }
}

std::string inputs_of(const WorkersRequest& request) {
  std::string text = fmt::format("{}\n{}\n", short_version(), request.options);
  for (const fs::path& directory : request.directories)
    text += fmt::format("{} {} {}", fs::absolute(directory).string(), bytes_of_measurements(directory),
                        state_of_measurements(directory));
  return text;
}

}  // namespace

std::unique_ptr<AnalysisWorkers> join_workers(const WorkersRequest& request) {
  const std::optional<ParallelJob> job = parallel_job();
  if (!job && !request.resume) {
    AnalysisWorkers::remove_abandoned(folder_of(request));
    return nullptr;
  }
  AnalysisWorkers::Setup setup;
  setup.folder = folder_of(request);
  setup.program = short_version();
  setup.resume = request.resume;
  if (job) {
    setup.rank = job->rank;
    setup.size = job->size;
  }
  if (setup.rank != 0) {
    speak_as(fmt::format("process {}", setup.rank));
    set_quiet(true);
  }
  require_directories(request, setup.rank);
  if (setup.rank == 0 && !request.output.empty()) Folder::above(setup.folder);
  setup.inputs = [&] { return inputs_of(request); };
  auto workers = std::make_unique<AnalysisWorkers>(setup);
  if (request.resume && workers->is_first() && !workers->resumes())
    remark(
        "{}: no interrupted analysis of these measurements by as many processes was found; analyzing from "
        "the start",
        setup.folder.string());
  return workers;
}

}  // namespace prof
