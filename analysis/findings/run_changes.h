#pragma once
// Changes between two groups of runs, as findings.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/compare/run_changes.h"

namespace prof {

// Returns a finding for each row that differs significantly, in their order, then one for the total if it
// does. They are of kind "regression",
// "improvement" or, with a scaling, "scaling-loss".
std::vector<Finding> change_findings(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling);

}  // namespace prof
