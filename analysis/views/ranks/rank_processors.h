#pragma once
// Determines whether ranks had processors. If more threads are ready to run than there are processors, ranks
// wait for processors. MPI's functions, which poll, then do not show which ranks wait for which.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views/ranks/rank_costs.h"

namespace prof {

constexpr double kHadProcessor = 0.8;  // of the time; below, a report says so and blames no rank for waiting

// Returns the share of the time for which the ranks' communicating threads had a processor, 0..1.
// For REALTIME: while they compute in their own code, which cannot sleep, if CPUTIME was measured as well.
// For CPUTIME: by the times in traces. Without traces, only for the `waiting` ranks (indices into
// RankCosts::ranks), by the run time of the program, unless devices were used: a thread that polls in a call
// has a processor all the time.
// Returns nothing if none of it is known. `period_s`: of the samples. Throws DatabaseError if a trace cannot
// be read.
class ProcessorShare {
 public:
  // All of it must outlive this object.
  ProcessorShare(const CallTree& tree, const RunSummary& run, const RankCosts& costs)
      : tree_(tree), run_(run), costs_(costs) {}

  // Reads the traces once.
  std::optional<double> of(const std::vector<uint32_t>& waiting, double period_s, int jobs);

  // Returns by traces of CPUTIME for how many seconds these ranks had no processor, the mean; 0 if no trace
  // shows it.
  double lack_of(const std::vector<uint32_t>& ranks, double period_s, int jobs);

 private:
  const std::vector<double>& traced(double period_s, int jobs);

  const CallTree& tree_;
  const RunSummary& run_;
  const RankCosts& costs_;
  std::optional<std::vector<double>> traced_;
};

}  // namespace prof
