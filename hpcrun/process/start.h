#pragma once
// Start-up and end of the runtime in a process: in the constructor of the preloaded library or at the first
// thread that another library's constructor creates before, after fork in the child, at exit. Not
// async-signal-safe.

namespace hpcrun {

// Opens the measurement file, chooses the sources, attaches the calling thread; the first call only. Does
// nothing without PROF_DIRECTORY; a failure is one warning on standard error and leaves the program
// unmeasured.
void start_process() noexcept;

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
