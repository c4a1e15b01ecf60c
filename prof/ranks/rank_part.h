#pragma once
// What `prof run` does otherwise where it is one of many: `mpirun -n 4 prof run ./app`. All ranks measure
// into one directory, which the first of them makes and the others wait for; the first one speaks for all,
// and analyzes at the end (docs/cluster.md).

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
  // Nothing outside of a parallel job, where --ranks is refused. From here on every line that is said names
  // the rank, and all but the first measured rank say nothing but errors. `ranks`: as --ranks has it, empty:
  // all; `asked`: as -o has it. Throws CommandError (125).
  static std::optional<RankPart> take(const std::string& ranks, const std::string& asked);

  const ParallelJob& job() const { return job_; }
  const std::string& ranks() const { return ranks_; }  // as --ranks has them
  bool is_measured() const { return choice_.contains(job_.rank); }
  bool is_first() const { return job_.rank == first_; }

  // True where the ranks, or those of a node, have one directory: its name has no %p and no %r.
  bool shares_directory() const { return sharing_ != Sharing::None; }
  // True where all ranks have one: the nodes' clocks are compared.
  bool shares_with_all() const { return sharing_ == Sharing::All; }
  // True for the one of them that makes it.
  bool makes_directory() const;
  // The directory that another rank makes. Throws CommandError (125) where that does not happen.
  std::filesystem::path await_directory(const std::string& program, bool force) const;
  // Lets the others go on: what they find in the directory is there. `token`: of the launch. Throws
  // CommandError (125), where another launch did the same in this directory as well.
  void publish(const std::filesystem::path& directory, const ClockAddress& clock, uint64_t token) const;
  // The token that was published. Throws CommandError (125).
  uint64_t token(const std::filesystem::path& directory) const;
  // The first rank's clock, as it published it.
  ClockAddress first_clock(const std::filesystem::path& directory) const;
  // "run-7.json"
  std::string record_name() const;
  // Waits, not for long, until the records of all measured ranks are in the directory, alone or in
  // containers; ends what publish() began where they are.
  void await_others(const std::filesystem::path& directory) const;
  // True where the first rank analyzes what all have measured; else it says how to.
  bool analyzes() const;
  void say_how_to_analyze(const std::filesystem::path& directory) const;

  // What measurement files of this rank are named by: "node7-3-".
  std::string file_prefix() const;
  // False where so many ranks that list their directory would be in the way of the file system.
  bool watches_debuggers() const;
  // What the measured program is told. `release`: the version of prof.
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
