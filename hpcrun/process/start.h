#pragma once
// Start-up and end of the runtime in a process: in the constructor of the preloaded library or at the first
// thread that another library's constructor creates before, after fork in the child, at exit. Not
// async-signal-safe.

namespace hpcrun {

// Opens the measurement file, chooses the sources, attaches the calling thread; the first call only. Does
// nothing without PROF_DIRECTORY; a failure is one warning on standard error and leaves the program
// unmeasured.
void start_process() noexcept;

// Stops sampling and closes the file. Nothing happens in a process that is not measured.
void finish_process() noexcept;

}  // namespace hpcrun
