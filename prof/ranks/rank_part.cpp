#include "prof/ranks/rank_part.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "analysis/files/folder.h"
#include "analysis/pipeline/stored_files.h"
#include "hpcrun/measurement/container.h"
#include "hpcrun/sample/config.h"
#include "prof/base/message.h"
#include "prof/ranks/directory_name.h"
#include "prof/ranks/launcher_process.h"
#include "prof/ranks/measurement_directory.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = 20ms;
// Thousands of ranks that wait for a file send as many requests to the network file system.
constexpr auto kMaxPollInterval = 500ms;
// A network file system may hide a new file for a minute from a client that has searched for it before.
constexpr auto kDirectoryTimeout = 120s;
// The whole directory has to be read to find out whether it is taken.
constexpr auto kListingInterval = 5s;
// The time for which files that look like another run's may be the work of a rank of this launch.
constexpr auto kFilesTimeout = 2s;
// The time that the rank that makes the directory may take to remove the remains of a launch that was killed.
constexpr auto kLaunchTimeout = 20s;
// The limit for the error of a node's clock, plus the delay with which its ranks may be started.
constexpr auto kMaxLateness = 30s;
// MPI_Finalize releases all ranks at about the same time.
constexpr auto kEndsTimeout = 10s;
// In a larger job, nodes are not kept waiting for one process that analyzes.
constexpr int kMaxRanksToAnalyze = 64;
// A rank that waits for files pauses this many times as long as each listing took, to leave the file system
// to others.
constexpr int kRest = 10;
constexpr int kMaxRanksToWatch = 64;

bool has_file(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

// Reads new members of the containers in a directory.
class NewMembers {
 public:
  // Returns the names of those that have appeared since the last call.
  std::vector<std::string> in(const fs::path& directory) {
    std::vector<std::string> names;
    for (const fs::path& path : containers_in(directory)) {
      ContainerReader& container = containers_.try_emplace(path, path).first->second;
      const size_t before = container.members().size();
      container.read_on();
      for (size_t i = before; i < container.members().size(); ++i)
        names.push_back(container.members()[i].path.filename().string());
    }
    return names;
  }

 private:
  std::map<fs::path, ContainerReader> containers_;
};

// Returns "rank 3", "ranks 3, 5 and 9", "ranks 3, 5, 9, 11 and 40 more".
std::string format_awaited(const std::map<std::string, int>& awaited) {
  constexpr size_t kMaxNamed = 4;
  std::vector<int> ranks;
  for (const auto& [file, rank] : awaited) ranks.push_back(rank);
  std::ranges::sort(ranks);
  const size_t named = std::min(ranks.size(), kMaxNamed);
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (size_t i = 0; i < named; ++i)
    text += fmt::format("{} {}", i == 0 ? "" : i + 1 == ranks.size() ? " and" : ",", ranks[i]);
  return named < ranks.size() ? fmt::format("{} and {} more", text, ranks.size() - named) : text;
}

}  // namespace

RankPart::RankPart(ParallelJob job, RankChoice choice, std::string ranks, const std::string& asked)
    : job_(std::move(job)),
      choice_(std::move(choice)),
      ranks_(std::move(ranks)),
      asked_(asked),
      first_(choice_.first(job_.size).value_or(-1)),
      sharing_(names_any_of(asked, "pr")  ? Sharing::None
               : names_any_of(asked, "h") ? Sharing::Node
                                          : Sharing::All) {}

std::optional<RankPart> RankPart::take(const std::string& ranks, const std::string& asked) {
  std::optional<ParallelJob> job = parallel_job();
  RankChoice choice;
  if (!ranks.empty()) {
    if (!job)
      fail(kOwnFailure,
           "--ranks needs several processes started by mpirun or srun (mpirun -n 64 prof run --ranks 10% "
           "./app); leave it out");
    const std::optional<RankChoice> asked_for = RankChoice::parse(ranks);
    if (!asked_for)
      fail(kOwnFailure, "--ranks {}: expected ranks, such as 0-15,1024, or a share, such as 10%", ranks);
    choice = *asked_for;
  }
  if (!job) return std::nullopt;
  RankPart part(std::move(*job), choice, ranks, asked);
  if (part.first_ < 0)
    fail(kOwnFailure, "--ranks {}: none of these is among the {} ranks of this launch", ranks,
         part.job_.size);
  if (part.sharing_ == Sharing::Node && part.job_.local_rank < 0)
    fail(kOwnFailure, "-o {}: the launcher does not report ranks per node; use %r instead of %h", asked);
  if (part.sharing_ == Sharing::All && part.job_.name == LaunchName::OfParent && part.job_.spans_nodes) {
    if (part.job_.local_rank > 0) throw CommandError(kOwnFailure, "");  // one rank of each node prints it
    fail(kOwnFailure,
         "{}: the launcher gives ranks on several nodes no common name; use one directory per node (-o "
         "'DIR-%h'), or start them in a batch job",
         host_name());
  }
  if (!part.is_first()) {
    speak_as(fmt::format("rank {}", part.job_.rank));
    set_quiet(true);
  }
  return part;
}

bool RankPart::makes_directory() const {
  return sharing_ == Sharing::Node ? job_.local_rank == 0 : is_first();
}

fs::path RankPart::name_of_directory(const std::string& program) const {
  return measurement_directory_path(asked_, program);
}

// True if an earlier launch wrote the record. A launch without a name of its own in its batch job may find
// the file of the job's last launch, which was killed. That file was written before the parent of this
// process started.
bool RankPart::is_of_earlier_launch(const LaunchRecord& record) const {
  if (job_.name != LaunchName::OfBatchJob) return false;
  const auto start = start_of_process(getppid());
  return start && record.written < *start - kMaxLateness;
}

void RankPart::refuse_others(const fs::path& directory, const LaunchRecord& others) const {
  // The rank that makes the directory refuses it as well, and prints the error. One rank of each other node
  // prints it, too.
  if (job_.local_rank > 0) throw CommandError(kOwnFailure, "");
  refuse_launch_of_others(directory, others);
}

fs::path RankPart::await_directory(const std::string& program, bool force) const {
  const fs::path directory = name_of_directory(program);
  const Clock::time_point start = Clock::now();
  Clock::duration pause = kPollInterval;
  Clock::time_point next_listing = start, first_seen = Clock::time_point::max();
  while (true) {
    const std::optional<LaunchRecord> record = launch_record(directory);
    const bool is_own = record && record->launch == job_.launch && !is_of_earlier_launch(*record);
    if (is_own) return directory;
    const Clock::time_point now = Clock::now();
    const Clock::duration waited = now - start;
    if (record && waited > (force ? kDirectoryTimeout : kLaunchTimeout)) refuse_others(directory, *record);
    const bool may_be_taken = !force && first_seen == Clock::time_point::max();
    if (may_be_taken && now >= next_listing) {
      if (is_taken(directory)) first_seen = now;
      next_listing = Clock::now() + kListingInterval;
    }
    // The rank that makes the directory refuses it as well, and prints the error.
    if (first_seen < now - kFilesTimeout) throw CommandError(kOwnFailure, "");
    if (waited > kDirectoryTimeout)
      fail(kOwnFailure,
           "{} has no {} by rank {}; use a directory that all nodes share with -o, or one per node (-o "
           "'DIR-%h')",
           host_name(), directory.string(), first_);
    std::this_thread::sleep_for(pause);
    pause = std::min<Clock::duration>(pause * 5 / 4, kMaxPollInterval);
  }
}

ClockAddress RankPart::first_clock(const fs::path& directory) const {
  const std::optional<LaunchRecord> record = launch_record(directory);
  return record ? record->clock : ClockAddress{};
}

uint64_t RankPart::token(const fs::path& directory) const {
  const std::optional<LaunchRecord> record = launch_record(directory);
  if (!record || record->token == 0)
    fail(kOwnFailure, "{}: ranks run different versions of prof; use the same one for all",
         directory.string());
  return record->token;
}

void RankPart::publish(const fs::path& directory, const ClockAddress& clock, uint64_t token) const {
  LaunchRecord record;
  record.launch = job_.launch;
  record.size = job_.size;
  record.ranks = ranks_.empty() ? "all" : ranks_;
  record.all_ranks = shares_with_all();
  record.token = token;
  record.clock = clock;
  if (create_launch_record(directory, record)) return;
  // Another launch has published since this one checked.
  const std::optional<LaunchRecord> others = launch_record(directory);
  refuse_launch_of_others(directory, others.value_or(LaunchRecord{}));
}

std::string RankPart::record_name() const {
  return fmt::format("run-{}.json", job_.rank);
}

void RankPart::await_others(const fs::path& directory) const {
  if (sharing_ != Sharing::All) return;
  std::map<std::string, int> awaited;
  for (int rank = 0; rank < job_.size; ++rank)
    if (choice_.contains(rank)) awaited.emplace(fmt::format("run-{}.json", rank), rank);
  const Clock::time_point start = Clock::now();
  NewMembers members;
  while (true) {
    const Clock::time_point look = Clock::now();
    std::erase_if(awaited, [&](const auto& file) { return has_file(directory / file.first); });
    for (const std::string& name : members.in(directory)) awaited.erase(name);
    if (awaited.empty()) break;
    if (start < Clock::now() - kEndsTimeout) {
      remark("{} of {} measured have not ended; `prof report {}` shows them after they end",
             format_awaited(awaited), choice_.count(job_.size), directory.string());
      return;
    }
    std::this_thread::sleep_for(std::max<Clock::duration>(kPollInterval, kRest * (Clock::now() - look)));
  }
  remove_own(directory / kLaunchFile);
}

bool RankPart::analyzes() const {
  return sharing_ == Sharing::None || (sharing_ == Sharing::All && job_.size <= kMaxRanksToAnalyze);
}

void RankPart::say_how_to_analyze(const fs::path& directory) const {
  if (sharing_ == Sharing::All)
    remark("measurements are in {}; `prof analyze {}` makes the database", directory.string(),
           directory.string());
  else
    remark(
        "measurements are in {} and in similar directories on other nodes; `prof analyze DIR... -o DATABASE` "
        "makes one database",
        directory.string());
}

std::string RankPart::file_prefix() const {
  return fmt::format("{}-{}-", host_name(), job_.rank);
}

bool RankPart::watches_debuggers() const {
  return !shares_directory() || job_.size <= kMaxRanksToWatch;
}

std::vector<std::pair<std::string, std::string>> RankPart::environment(const std::string& release) const {
  std::vector<std::pair<std::string, std::string>> variables = {{hpcrun::kEnvLaunch, job_.launch},
                                                                {hpcrun::kEnvRelease, release}};
  if (!ranks_.empty()) variables.emplace_back(hpcrun::kEnvRanks, ranks_);
  return variables;
}

}  // namespace prof
