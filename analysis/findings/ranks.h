#pragma once
// Slow ranks, and waits for late ranks, as findings.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/ranks/rank_report.h"

namespace prof {

// Returns the findings by falling severity and cost.
std::vector<Finding> rank_findings(const CallTree& tree, const RankReport& report);

}  // namespace prof
