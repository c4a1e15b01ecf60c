#pragma once
// Ranks that are slow, and waits for ranks that come late, as findings.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/ranks/rank_report.h"

namespace prof {

// Returns the findings by falling severity and cost.
std::vector<Finding> rank_findings(const CallTree& tree, const RankReport& report);

}  // namespace prof
