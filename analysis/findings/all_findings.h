#pragma once
// Collects all findings of a run, for the summary and findings.sqlite. docs/adding-a-finding.md lists what a
// new kind adds.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/ranks/rank_costs.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/run/stall_report.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the findings in the order of put_in_order(), including `stalls` unless it is nullptr.
std::vector<Finding> all_findings(const CallTree& tree, const RunSummary& run, const StallReport* stalls,
                                  RankOptions ranks = {});

// The same, with the stalls in the traces, if there are traces. Throws DatabaseError if a trace cannot
// be read.
std::vector<Finding> all_findings(const CallTree& tree, const RunSummary& run, const StallOptions& stalls,
                                  RankOptions ranks = {});

}  // namespace prof
