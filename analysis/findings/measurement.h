#pragma once
// Findings on the measurement itself, not on the program: its quality, its cost, and missing parts.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns findings in no order. If nothing was measured, they state that and the reason.
std::vector<Finding> measurement_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
