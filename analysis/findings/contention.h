#pragma once
// False and true sharing as findings: the data for which threads contend, the maximum cost, and what to
// change.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns one finding for each piece of data, for the selected threads, in the order of
// RunSummary::contention.
std::vector<Finding> contention_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
