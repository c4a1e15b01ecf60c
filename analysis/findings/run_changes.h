#pragma once
// Changes between two sets of runs, as findings.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/compare/run_changes.h"

namespace prof {

// Returns findings for rows that differ significantly, in their order, the total last if it differs. Their
// kind is "regression", "improvement" or, with a scaling, "scaling-loss".
std::vector<Finding> change_findings(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling);

}  // namespace prof
