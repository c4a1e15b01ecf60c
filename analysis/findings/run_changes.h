#pragma once
// What changed from some runs to some others, as findings.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/compare/run_changes.h"

namespace prof {

// Of rows that differ significantly, in their order, the total last where it does: of kind "regression",
// "improvement" or, with a scaling, "scaling-loss".
std::vector<Finding> change_findings(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling);

}  // namespace prof
