#pragma once
// Threads that wait for others without a lock, as findings: which code works meanwhile.

#include <string>
#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/idle_threads.h"

namespace prof {

// Returns Finding::id of the function, whether it is worth a finding or not.
std::string idle_id(const CallTree& tree, const WorkWhileIdle& work);

// Returns a finding for each function during which more threads waited than worked, if they waited for a
// significant share of their time.
std::vector<Finding> idle_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
