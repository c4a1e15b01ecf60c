#pragma once
// False and true sharing as findings: which data threads contend for, what that costs at most, and what to
// change.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns a finding for each piece of data that the selected threads contend for, in the order of
// RunSummary::contention.
std::vector<Finding> contention_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
