#pragma once
// Start-up and end of the runtime in a process: in the constructor of the preloaded library or at the first
// thread that another library's constructor creates before, after fork in the child, at exit. Not
// async-signal-safe.

#include "hpcrun/unwind/unwinder.h"

namespace hpcrun {

// Opens the measurement file, chooses the sources, attaches the calling thread; the first call only. Does
// nothing without PROF_DIRECTORY; a failure is one warning on standard error and leaves the program
// unmeasured.
void start_process() noexcept;

// Starts sampling by process_state.config in a process that has just begun, whose only thread has the stack.
// In a forked child the program's allocator may be locked until all fork handlers have run: nothing in it
// allocates, takes a lock of the C library or calls a function that the program may define.
void start_sampling(StackBounds stack) noexcept;

// The same in a forked child that waited for its first sample, at any instruction of its only thread: it goes
// on with the parent's modules and sources, and asks neither the loader nor the environment.
// Async-signal-safe, but for 16 KiB of stack.
void start_waiting_child(StackBounds stack) noexcept;

// The same for a process that has been running for long, by settings (hpcrun/sample/config.h) instead of the
// environment, and with all its threads but the calling one. 0, or an errno: EBUSY when it is measured
// already.
int start_late(const char* settings) noexcept;

// Ends what start_late() began, at any time; it may then begin anew. 0, or ETIMEDOUT when a thread was
// stopped in our handler: what it holds is left to it.
int finish_late() noexcept;

// The program goes on and is about to forbid the runtime its system calls: ends measuring in all threads,
// with a note that says why. Nothing of the runtime's makes a system call afterwards but in functions that
// the program calls.
void finish_before(const char* why) noexcept;

// Stops sampling and closes the file. Nothing happens in a process that is not measured.
void finish_process() noexcept;

}  // namespace hpcrun
