#pragma once
// Start-up and end of the runtime in a process. It starts in the constructor of the preloaded library, or at
// the first thread that another library's constructor creates before that, and in the child after a fork. It
// ends at exit. Not async-signal-safe.

#include "hpcrun/unwind/unwinder.h"

namespace hpcrun {

// Opens the measurement file, chooses the sample sources, and attaches the calling thread; only the first
// call does so. Does nothing without PROF_DIRECTORY. A failure is one warning on standard error, and leaves
// the program unmeasured.
void start_process() noexcept;

// Starts sampling with process_state.config in a process that has just begun, whose only thread has the
// stack. In a forked child the program's allocator may be locked until all fork handlers have run. Therefore
// the call does not allocate, takes no lock of the C library, and calls no function that the program may
// define.
void start_sampling(StackBounds stack) noexcept;

// The same in a forked child that waited for its first sample, at any instruction of its only thread. It
// continues with the parent's modules and sources, and uses neither the loader nor the environment.
// Async-signal-safe, except that it needs 16 KiB of stack.
void start_waiting_child(StackBounds stack) noexcept;

// The same in a process that is already running, with settings (hpcrun/sample/config.h) instead of the
// environment, and for all its threads except the calling one. Returns 0, or an errno: EBUSY if it is
// measured already.
int start_late(const char* settings) noexcept;

// Ends what start_late() began, at any time; it may then begin again. Returns 0, or ETIMEDOUT if a thread was
// stopped in our handler; its data is not freed then.
int finish_late() noexcept;

// Ends measuring in all threads, with a note of the reason, because the program is about to forbid the
// runtime its system calls, and continues to run. From then on the runtime makes system calls only in
// functions that the program calls.
void finish_before(const char* why) noexcept;

// Stops sampling and closes the file. Does nothing in a process that is not measured.
void finish_process() noexcept;

}  // namespace hpcrun
