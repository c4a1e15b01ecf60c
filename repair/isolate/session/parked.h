#pragma once
// The parked original of a converted thread. It stays on a stack of its own with all signals blocked, and
// waits for two things: orders of its converted thread, which arrive as request signals, and signals to the
// program. It drops a signal that has no effect, and lets one that ends or stops the process do so. For any
// other it asks the converted thread to come home. All calls are async-signal-safe.

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Returns when the converted thread has come home.
void stay_parked(ThreadRecord& record, int process) noexcept;

// Called by the converted thread. wake_original() sends the order. call_by_original() has the original make a
// system call that must not wait, and waits for the result.
void wake_original(ThreadRecord& record, Order order) noexcept;
long call_by_original(const SystemCall& call) noexcept;

// A request through call_by_original() that is no system call: the original reads program_mask again. The
// result is 1 if a signal is pending that the thread has to take now.
constexpr long kMaskChanged = -1;

// reap_converted_thread() checks whether the converted thread's process ended, and reaps it if it returned.
// await_end_of_converted_thread() waits until it has ended.
void reap_converted_thread(ThreadRecord& record) noexcept;
void await_end_of_converted_thread(ThreadRecord& record) noexcept;

// Kills all converted threads of the process and waits for them, as the process ends.
void kill_converted_threads() noexcept;

}  // namespace hpcrun
