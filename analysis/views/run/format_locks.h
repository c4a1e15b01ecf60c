#pragma once
// Formats waits for locks: which lock it is, who waited, and who held it meanwhile.

#include <optional>
#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"
#include "analysis/words/code_frame.h"

namespace prof {

// Returns why locks are not known, with the remedy, as one line; nullopt if they were followed.
std::optional<std::string> reason_no_locks(const RunSummary& run);

// Returns as one line what was not recorded although locks were followed; nullopt if nothing is known to be
// missing.
std::optional<std::string> locks_not_followed(const CallTree& tree, const RunSummary& run);

// Returns the waiting of all threads for locks, in seconds, and its share (0..1) of the time in which threads
// worked or waited for a lock.
struct LockWaiting {
  double seconds = 0;
  double share = 0;
};
LockWaiting lock_waiting(const RunSummary& run);

// Returns the call path of a side from the program's own code on, the innermost first: without the functions
// of the C library and of C++ headers through which a lock is used.
std::vector<CodeFrame> user_of_lock(const CallTree& tree, uint32_t context);

// Returns "queue_lock", "32 mutexes", "the mutex allocated by make_queue (queue.cpp:12)" or "the mutex at
// 0x5581...".
std::string format_lock(const CallTree& tree, const LockRecord& record);

// Returns "queue_lock (mutex, queue.cpp:12): waited for 1.2 s in 40 waits, the longest 80 ms".
std::string format_waits(const CallTree& tree, const LockRecord& record);

// Returns the part of waited_s for which the holder of the lock is not known, though the wait ended; 0 if
// that is less than a hundredth.
double unblamed_s(const LockRecord& record);

// Returns "Threads waited 1.2 s for locks, 30 % of the time in which they worked or waited for locks."
std::string format_waiting(const RunSummary& run);

}  // namespace prof
