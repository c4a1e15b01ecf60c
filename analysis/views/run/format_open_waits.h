#pragma once
// Formats waits for locks that had not ended when the process did.

#include <string>

#include "analysis/run/lock_record.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns "thread 4711 (worker) waited for first_lock in take_both (abba.cpp:20), which thread 4712 held".
std::string format_open_wait(const CallTree& tree, const OpenWaitRecord& wait);

}  // namespace prof
