#pragma once
// Whether ranks had processors. Where more threads are ready to run than there are processors, ranks wait for
// these, and MPI's functions, which poll, say nothing about who waits for whom.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views/ranks/rank_costs.h"

namespace prof {

constexpr double kHadProcessor = 0.8;  // of the time; of less a report says so and blames nobody for waiting

// The part of the time for which the ranks' communicating threads had a processor, 0..1. Of REALTIME: while
// they compute in their own code, which cannot sleep, where CPUTIME was measured beside it. Of CPUTIME: by
// the times in traces, else for the `waiting` ranks (indices into RankCosts::ranks) alone by how long the
// program took, unless devices were used: one that polls in a call has a processor all the time. Nothing
// if none of it is known. `period_s`: of the samples. Throws DatabaseError if a trace cannot be read.
class ProcessorShare {
 public:
  // All of it must outlive this.
  ProcessorShare(const CallTree& tree, const RunSummary& run, const RankCosts& costs)
      : tree_(tree), run_(run), costs_(costs) {}

  // Reads the traces once.
  std::optional<double> of(const std::vector<uint32_t>& waiting, double period_s, int jobs);

  // By traces of CPUTIME: for how many seconds these ranks had no processor, the mean; 0 if none tell.
  double lack_of(const std::vector<uint32_t>& ranks, double period_s, int jobs);

 private:
  const std::vector<double>& traced(double period_s, int jobs);

  const CallTree& tree_;
  const RunSummary& run_;
  const RankCosts& costs_;
  std::optional<std::vector<double>> traced_;
};

}  // namespace prof
