#pragma once
// Checks the ranks of a parallel program as a whole: some may be missing, have died, or belong to another
// program or job. None of this prevents the analysis of the rest.

#include <string>
#include <vector>

#include "analysis/pipeline/run_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// The values that the launcher passed to a process (docs/formats.md, the environment). Empty or 0 if it
// passed none.
struct LaunchOfProcess {
  std::string launch;   // PROF_LAUNCH, or the batch system's job
  std::string ranks;    // PROF_RANKS
  std::string release;  // PROF_RELEASE
  int32_t size = 0;
};
LaunchOfProcess launch_of(const MeasuredProcess& process);

// Returns one line for the user for each problem. `records`: the result of read_rank_records().
std::vector<std::string> check_ranks(const std::vector<ProcessMeasurement>& measurements,
                                     const std::vector<RankRecord>& records);

}  // namespace prof
