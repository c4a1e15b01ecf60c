#pragma once
// Finds the ranks that are late, instant by instant: while ranks wait, the work of the other ranks is to
// blame (as a device's idleness is blamed on the processor's activity meanwhile, thesis chapter 2). Sums over
// a run do not show ranks that are late alternately; traces do.
// One thread of each rank counts, the one that communicates most. A rank waits while this thread is in
// communication, for kMinWait sampling periods or more: for shorter waits, samples do not show their start
// and end. It works while the thread is anywhere else, except in MPI_Init. At times at which at least as many
// ranks wait as work, each working rank is blamed for an equal share of the waiting ones: waiting ranks /
// working ranks.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views/ranks/rank_costs.h"

namespace prof {

constexpr uint64_t kMinWait = 4;          // sampling periods
constexpr uint64_t kLongestStretch =
    10;  // likewise: CPU time shows no more about the time between two samples
constexpr uint64_t kMaxBins = 1u << 20;  // likewise: CPU time does not show the time between two samples

// In seconds, summed over ranks.
struct LateRanks {
  double waited_s = 0;  // in waits that are long enough
  double blamed_s = 0;  // of it: while fewer or as many ranks worked as waited
  double nobody_s = 0;  // of it, while no rank worked
  struct Blame {
    uint32_t location = 0;  // into RankCosts::locations
    double seconds = 0;
  };
  std::vector<Blame> locations;  // of blamed_s, the most expensive first
  std::vector<double> by_rank;  // of blamed_s, as RankCosts::ranks
};

// Returns by rank the time in seconds that samples in the trace of its communicating thread cover, as
// RankCosts::ranks; 0 without a trace.
std::vector<double> traced_seconds(const CallTree& tree, const RankCosts& costs, double period_s, int jobs);

// Returns nothing if no rank has a trace, or if traces follow CPU time that ranks did not have: if ranks wait
// for processors, it is not known which of them wait for which. `period_s`: of the samples. Reads the traces
// of the ranks three times, several at once; the result does not depend on how many. Throws DatabaseError if
// a trace cannot be read.
std::optional<LateRanks> late_ranks(const CallTree& tree, const RankCosts& costs, double period_s, int jobs);

}  // namespace prof
