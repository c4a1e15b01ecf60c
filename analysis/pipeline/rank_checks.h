#pragma once
// What is wrong with the ranks of a parallel program as a whole: some are missing, died, are of another
// program or another job. None of it keeps the rest from being analyzed.

#include <string>
#include <vector>

#include "analysis/pipeline/run_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// What the launcher told a process (docs/formats.md, the environment); empty and 0 where it told nothing.
struct LaunchOfProcess {
  std::string launch;   // PROF_LAUNCH, or the batch system's job
  std::string ranks;    // PROF_RANKS
  std::string release;  // PROF_RELEASE
  int32_t size = 0;
};
LaunchOfProcess launch_of(const MeasuredProcess& process);

// One line each, for the user. `records`: of the ranks, as read_rank_records() has them.
std::vector<std::string> check_ranks(const std::vector<ProcessMeasurement>& measurements,
                                     const std::vector<RankRecord>& records);

}  // namespace prof
