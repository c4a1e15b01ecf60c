#include "prof/ranks/analysis_team.h"

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

fs::path folder_of(const TeamRequest& request) {
  const fs::path database =
      request.output.empty() ? request.directories.front() / "database" : request.output;
  const fs::path absolute = fs::absolute(database).lexically_normal();
  const fs::path named = absolute.has_filename() ? absolute : absolute.parent_path();
  return named.parent_path() / fmt::format(".{}.parts", named.filename().string());
}

void require_directories(const TeamRequest& request, int rank) {
  for (const fs::path& directory : request.directories) {
    std::error_code error;
    if (fs::is_directory(directory, error)) continue;
    if (rank != 0) std::this_thread::sleep_for(kFirstRankTimeout);
    fail(kOwnFailure, "{}: no such directory; use one that all processes can access", directory.string());
  }
}

std::string inputs_of(const TeamRequest& request) {
  std::string text = fmt::format("{}\n{}\n", short_version(), request.options);
  for (const fs::path& directory : request.directories)
    text += fmt::format("{} {} {}", fs::absolute(directory).string(), bytes_of_measurements(directory),
                        state_of_measurements(directory));
  return text;
}

}  // namespace

std::unique_ptr<Team> join_team(const TeamRequest& request) {
  const std::optional<ParallelJob> job = parallel_job();
  if (!job && !request.resume) {
    Team::remove_abandoned(folder_of(request));
    return nullptr;
  }
  Team::Place place;
  place.folder = folder_of(request);
  place.program = short_version();
  place.resume = request.resume;
  if (job) {
    place.rank = job->rank;
    place.size = job->size;
  }
  if (place.rank != 0) {
    speak_as(fmt::format("process {}", place.rank));
    set_quiet(true);
  }
  require_directories(request, place.rank);
  if (place.rank == 0 && !request.output.empty()) Folder::above(place.folder);
  place.inputs = [&] { return inputs_of(request); };
  auto team = std::make_unique<Team>(place);
  if (request.resume && team->is_first() && !team->resumes())
    remark(
        "{}: no interrupted analysis of these measurements by as many processes was found; analyzing from "
        "the start",
        place.folder.string());
  return team;
}

}  // namespace prof
