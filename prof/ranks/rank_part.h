#pragma once
// The role of a `prof run` that is one of many: `mpirun -n 4 prof run ./app`. All ranks measure into one
// directory, which the first rank makes and the others wait for. The first rank prints for all, and analyzes
// at the end (docs/cluster.md).

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/pipeline/rank_choice.h"
#include "prof/ranks/clock_exchange.h"
#include "prof/ranks/launch_record.h"
#include "prof/ranks/parallel_job.h"

namespace prof {

class RankPart {
 public:
  // Returns nothing outside a parallel job, in which case --ranks is refused. From then on every printed line
  // names the rank, and all but the first measured rank print errors only. `ranks`: the value of --ranks,
  // empty for all; `asked`: the value of -o. Throws CommandError (125).
  static std::optional<RankPart> take(const std::string& ranks, const std::string& asked);

  const ParallelJob& job() const { return job_; }
  const std::string& ranks() const { return ranks_; }  // the value of --ranks
  bool is_measured() const { return choice_.contains(job_.rank); }
  bool is_first() const { return job_.rank == first_; }

  // True if the ranks, or those of a node, share a directory: its name has no %p and no %r.
  bool shares_directory() const { return sharing_ != Sharing::None; }
  // True if all ranks share one. The nodes' clocks are compared then.
  bool shares_with_all() const { return sharing_ == Sharing::All; }
  // True for the rank that makes the directory.
  bool makes_directory() const;
  // Returns the directory once another rank has made it. Throws CommandError (125) if that does not happen.
  std::filesystem::path await_directory(const std::string& program, bool force) const;
  // Lets the other ranks continue: the directory is prepared. `token`: of the launch. Throws CommandError
  // (125) if another launch has published in this directory, too.
  void publish(const std::filesystem::path& directory, const ClockAddress& clock, uint64_t token) const;
  // Returns the published token. Throws CommandError (125).
  uint64_t token(const std::filesystem::path& directory) const;
  // Returns the published clock of the first rank.
  ClockAddress first_clock(const std::filesystem::path& directory) const;
  // Returns a name such as "run-7.json".
  std::string record_name() const;
  // Waits for a limited time until the records of all measured ranks are in the directory, alone or in
  // containers. If they are, undoes publish().
  void await_others(const std::filesystem::path& directory) const;
  // True if the first rank analyzes the measurements of all; otherwise it prints how to.
  bool analyzes() const;
  void say_how_to_analyze(const std::filesystem::path& directory) const;

  // Returns the prefix of the names of this rank's measurement files: "node7-3-".
  std::string file_prefix() const;
  // Returns false if so many ranks would list their directory that the file system would suffer.
  bool watches_debuggers() const;
  // Returns the variables for the measured program. `release`: the version of prof.
  std::vector<std::pair<std::string, std::string>> environment(const std::string& release) const;

 private:
  enum class Sharing : uint8_t { None, Node, All };
  RankPart(ParallelJob job, RankChoice choice, std::string ranks, const std::string& asked);
  std::filesystem::path name_of_directory(const std::string& program) const;
  bool is_of_earlier_launch(const LaunchRecord& record) const;
  [[noreturn]] void refuse_others(const std::filesystem::path& directory, const LaunchRecord& others) const;

  ParallelJob job_;
  RankChoice choice_;
  std::string ranks_, asked_;
  int first_ = 0;
  Sharing sharing_ = Sharing::All;
};

}  // namespace prof
