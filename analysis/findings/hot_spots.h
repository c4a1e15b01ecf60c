#pragma once
// The places with the highest costs, as findings: functions, lines including the library code that they call,
// and subtrees. They show where the cost is, not why.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the findings for the first metric of the tree.
std::vector<Finding> hot_spot_findings(const CallTree& tree);

}  // namespace prof
