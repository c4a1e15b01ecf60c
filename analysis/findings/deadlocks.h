#pragma once
// Threads that waited for each other's locks when their process ended, as findings.

#include <string>
#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns Finding::id of the circle with the number OpenWaitRecord::deadlock.
std::string deadlock_id(uint64_t deadlock);

// Returns a finding for each circle of threads that waited for each other.
std::vector<Finding> deadlock_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
