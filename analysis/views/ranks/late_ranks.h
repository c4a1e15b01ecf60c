#pragma once
// Who is late, instant by instant: while ranks wait, what the others are doing is to blame (as a device's
// idleness is blamed on what the processor does meanwhile, thesis chapter 2). Sums over a run do not see
// ranks that are late alternately; traces do.
//
// Of each rank one thread counts, that which communicates most. A rank waits while this thread is in
// communication, for kMinWait sampling periods or more: of shorter waits samples do not say when they began
// and ended. It works while the thread is anywhere else, MPI_Init apart. At times at which at least as many
// ranks wait as work, each that works is to blame for as many of those that wait: waiting ranks / working
// ranks.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views/ranks/rank_costs.h"

namespace prof {

constexpr uint64_t kMinWait = 4;          // sampling periods
constexpr uint64_t kLongestStretch = 10;  // likewise: CPU time says no more of the time between two samples
constexpr uint64_t kMaxBins = 1u << 20;   // of time; half a sampling period each, or longer ones

// In seconds, summed over ranks.
struct LateRanks {
  double waited_s = 0;  // in waits that are long enough
  double blamed_s = 0;  // of it: while others worked that were no more than those that waited
  double nobody_s = 0;  // of it: while nobody worked
  struct Blame {
    uint32_t location = 0;  // into RankCosts::locations
    double seconds = 0;
  };
  std::vector<Blame> locations;  // of blamed_s, the most expensive first
  std::vector<double> by_rank;  // of blamed_s, as RankCosts::ranks
};

// By their traces: the time in seconds of which samples of each rank's track tell something, as
// RankCosts::ranks; 0 without a trace.
std::vector<double> traced_seconds(const CallTree& tree, const RankCosts& costs, double period_s, int jobs);

// Nothing if no rank has a trace, or traces follow CPU time that ranks did not have: where ranks wait for
// processors nobody can tell who waits for whom. `period_s`: of the samples. Reads the traces of the ranks
// three times, several at once; the result does not depend on how many. Throws DatabaseError if a trace
// cannot be read.
std::optional<LateRanks> late_ranks(const CallTree& tree, const RankCosts& costs, double period_s, int jobs);

}  // namespace prof
