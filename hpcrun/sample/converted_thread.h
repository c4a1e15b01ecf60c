#pragma once
// Samples converted threads, which run as processes for a while (repair/isolate). Sample sources belong to a
// kernel task, so a converted thread has events and timers of its own. Its samples go where the thread's
// always go: all memory that the sample path writes to is common, or is mapped in converted threads as well
// (MeasurementFile::map_ahead()). The thread's CPU time continues from one task to the next
// (ThreadState::tasks).
//
// Called by the thread that is converted or returns, with all signals blocked and its system calls
// undispatched. All calls are async-signal-safe and preserve errno.

#include <csignal>

namespace hpcrun {

// Must be called in the program's process, before the thread is converted.
void leave_home() noexcept;
// Must be called in the converted thread, as the last step of the conversion. From then on, its undispatched
// system calls are those of its own process.
void begin_as_converted() noexcept;
// Must be called in the converted thread, before it returns.
void end_as_converted() noexcept;
// Must be called in the program's process again, also if the conversion failed.
void come_home() noexcept;

// Handles a signal that the converted thread received, as handle_sample_signal().
bool take_sample_as_converted(int signal, const siginfo_t& info, void* context) noexcept;

}  // namespace hpcrun
