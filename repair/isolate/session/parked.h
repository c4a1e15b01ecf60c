#pragma once
// The original of a thread while that runs as a converted thread. It stays on a stack of its own, with all
// signals blocked, and waits for orders of its converted thread, which come as request signals, and for the
// program's signals: one that would do nothing it drops, one that ends or stops the process does so, and for
// any other it asks its converted thread for the thread. All calls are async-signal-safe.

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Until the converted thread has given the thread back.
void stay_parked(ThreadRecord& record, int process) noexcept;

// By the converted thread. wake_original() tells it; call_by_original() has a system call made there, which
// must not wait, and waits for its result.
void wake_original(ThreadRecord& record, Order order) noexcept;
long call_by_original(const SystemCall& call) noexcept;

// What call_by_original() asks besides system calls: that the original looks at program_mask again. The
// result is 1 where a signal waits that the thread has to take now.
constexpr long kMaskChanged = -1;

// Looks whether the converted thread's process ended, and waits for it where it left;
// await_end_of_converted_thread() until it ended.
void look_at_converted_thread(ThreadRecord& record) noexcept;
void await_end_of_converted_thread(ThreadRecord& record) noexcept;

// All converted threads of the process are killed and waited for: as it ends.
void kill_converted_threads() noexcept;

}  // namespace hpcrun
