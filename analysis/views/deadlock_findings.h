#pragma once
// Threads that waited for locks when their process ended, as reports show it.

#include <string>
#include <vector>

#include "analysis/views/findings.h"

namespace prof {

// "thread 4711 (worker) waited for first_lock in take_both (abba.cpp:20), which thread 4712 had"
std::string open_wait_in_words(const CallTree& tree, const OpenWaitRecord& wait);

// Finding::id of the circle that OpenWaitRecord::deadlock numbers.
std::string deadlock_id(uint64_t deadlock);

// One for each circle of threads that waited for each other.
std::vector<Finding> deadlock_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
