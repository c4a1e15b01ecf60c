#pragma once
// Stalls as findings: where the whole run waited for one thread that was blocked.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/stall_report.h"

namespace prof {

// Returns a finding for each call path in which threads were blocked, by falling cost.
std::vector<Finding> stall_findings(const CallTree& tree, const StallReport& report);

}  // namespace prof
