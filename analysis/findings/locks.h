#pragma once
// Waits for locks as findings: which code waited, which code held the lock meanwhile, and what to change.

#include <string>
#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns Finding::id of the lock, whether it is worth a finding or not.
std::string lock_id(const CallTree& tree, const RunSummary& run, const LockRecord& record);

// Returns the advice, "Hold queue_lock for less time in flush ...".
std::string lock_advice(const CallTree& tree, const LockRecord& record);

// Returns a finding for each lock for which threads waited for a significant share of their time.
std::vector<Finding> lock_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
