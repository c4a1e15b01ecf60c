#pragma once
// What changed from some runs to some others: which functions, call paths or lines take more or less than
// before, and whether by more than runs of the same program differ; and what programs lose that scale badly.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/views/compare/comparison.h"
#include "analysis/views/compare/matched_runs.h"
#include "analysis/views/compare/significance.h"
#include "analysis/views/tree/source_locations.h"

namespace prof {

enum class ComparedBy : uint8_t { Function, Path, Line };

// What the runs after are held against, where those have more ranks or threads ("workers") than the runs
// before. C. Coarfa, J. Mellor-Crummey et al., Scalability analysis of SPMD codes using expectations (2007).
enum class Scaling : uint8_t {
  None,
  Strong,  // the same work on more workers: all together are to spend as much as before
  Weak     // the same work for each worker: each is to spend as much as before
};

struct RunChangeOptions {
  ComparedBy by = ComparedBy::Function;
  double threshold = 0.02;  // 0..1, of the total: smaller differences are left out
  bool same_total = false;  // costs of each run are multiplied so that the totals are that before
  Scaling scaling = Scaling::None;
};

// One function, call path or line; or all of a run. Costs are means over the runs of a side; with a scaling
// `before` is what was expected.
struct RunChange {
  uint32_t frame = kNone;  // into CallTree::frames; kNone: all of a run
  uint32_t node = kNone;   // into CallTree::nodes: of a path
  SourceLocation location;  // where it spends most, after if it is there
  Presence presence = Presence::Both;
  Change exclusive;  // its own cost: what is judged
  Change inclusive;  // with all that it calls; of lines the same as exclusive
  double share = 0;  // of the total that all shares refer to, RunChanges::whole; below 0 where it takes less
  Significance significance;

  bool is_significant() const { return significance.adjusted < kSignificant; }
};

struct RunChanges {
  RunChange total;
  double whole = 0;             // the total before; with a scaling that after
  std::vector<RunChange> rows;  // those that differ by the threshold or more, by falling difference in size
  RunToRun run_to_run;
  size_t runs_before = 0, runs_after = 0;
  uint64_t workers_before = 0, workers_after = 0;
  size_t judged = 0;               // rows that are large enough to differ by the threshold, and the total
  bool are_samples_known = false;  // of all runs; else costs were taken for exact
  // With a scaling: from where stacks begin, the way on which most of what was lost is, as nodes of the tree.
  std::vector<uint32_t> path_of_loss;
};

// Ranks where a run has more than one, else threads.
uint64_t workers_of(const ComparedRun& run, const MatchedRuns& runs);

// Needs a run on each side, with a total above 0 each. Moved lines: those of the runs before are counted as
// those that they became (moved_lines.h), where both databases have a copy of the file.
RunChanges find_changes(const MatchedRuns& runs, const RunChangeOptions& options);

}  // namespace prof
