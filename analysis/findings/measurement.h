#pragma once
// Findings about the measurement itself, not about the program: how well it was sampled, what that cost, and
// what is missing.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the findings in no particular order. If nothing was measured, they say so and why.
std::vector<Finding> measurement_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
