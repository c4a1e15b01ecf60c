#pragma once
// Where the program spends what was measured, as findings: functions, lines with the library code that they
// call, and subtrees. They say where, not why.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the findings for the first metric of the tree.
std::vector<Finding> hot_spot_findings(const CallTree& tree);

}  // namespace prof
