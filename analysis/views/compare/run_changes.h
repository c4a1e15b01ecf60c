#pragma once
// Compares two sets of runs: which functions, call paths or lines cost more or less than before, and whether
// the change exceeds the differences between runs of the same program. Also finds losses of programs that
// scale badly.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/views/compare/comparison.h"
#include "analysis/views/compare/matched_runs.h"
#include "analysis/views/compare/significance.h"
#include "analysis/views/tree/source_locations.h"

namespace prof {

enum class ComparedBy : uint8_t { Function, Path, Line };

// The expectation for the later runs if they have more ranks or threads ("workers") than the earlier ones. C.
// Coarfa, J. Mellor-Crummey et al., Scalability analysis of SPMD codes using expectations (2007).
enum class Scaling : uint8_t {
  None,
  Strong,  // the same work on more workers: all together are expected to cost as much as before
  Weak     // the same work for each worker: each is expected to cost as much as before
};

struct RunChangeOptions {
  ComparedBy by = ComparedBy::Function;
  double threshold = 0.02;  // 0..1, of the total: smaller differences are left out
  bool same_total = false;  // scales the costs of each run to the total of the earlier ones
  Scaling scaling = Scaling::None;
};

// A function, call path or line, or a whole run. Costs are means over the runs of a side; with a scaling,
// `before` is the expectation.
struct RunChange {
  uint32_t frame = kNone;   // into CallTree::frames; kNone: a whole run
  uint32_t node = kNone;    // into CallTree::nodes, for a path
  SourceLocation location;  // its most expensive line, in the later run if it occurs there
  Presence presence = Presence::Both;
  Change exclusive;  // the exclusive cost, which is judged
  Change inclusive;  // the inclusive cost; for lines the same as exclusive
  double share = 0;  // of RunChanges::whole, the total to which all shares refer; negative if the cost fell
  Significance significance;

  bool is_significant() const { return significance.adjusted < kSignificant; }
};

struct RunChanges {
  RunChange total;
  double whole = 0;             // the total before; with a scaling, the total after
  std::vector<RunChange> rows;  // those that differ by the threshold or more, by falling difference in size
  RunToRun run_to_run;
  size_t runs_before = 0, runs_after = 0;
  uint64_t workers_before = 0, workers_after = 0;
  size_t judged = 0;               // rows that are large enough to differ by the threshold, and the total
  bool are_samples_known = false;  // of all runs; if false, costs are taken as exact
  // With a scaling: the call path from the root of the tree along which most of the loss is, as nodes of the
  // tree.
  std::vector<uint32_t> path_of_loss;
};

// The number of ranks if a run has more than one; otherwise of threads.
uint64_t workers_of(const ComparedRun& run, const MatchedRuns& runs);

// Needs a run on each side, each with a total above 0. If both databases have a copy of a file, lines of the
// earlier runs are counted as the lines that they became (moved_lines.h).
RunChanges find_changes(const MatchedRuns& runs, const RunChangeOptions& options);

}  // namespace prof
