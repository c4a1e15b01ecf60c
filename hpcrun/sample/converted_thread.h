#pragma once
// Samples of threads that run as processes of their own for a while, their converted threads
// (repair/isolate). What raises samples belongs to a task, so a converted thread has events and timers of its
// own; its samples go where the thread's always go, since all that the sample path writes to is common
// memory, or mapped in converted threads as well (MeasurementFile::map_ahead()). The thread's CPU time goes
// on from one task to the next (ThreadState::tasks).
//
// Called by the thread that changes over, with all signals blocked and its system calls let pass. All calls
// are async-signal-safe and keep errno.

#include <csignal>

namespace hpcrun {

// At home, before the thread becomes a converted thread.
void leave_home() noexcept;
// In the converted thread, at last. Its calls of the kernel are its own from here on, where they are let
// pass.
void begin_as_converted() noexcept;
// In the converted thread, before the thread goes home.
void end_as_converted() noexcept;
// At home again, or still, where there came no converted thread of it.
void come_home() noexcept;

// A signal that the converted thread took: handle_sample_signal() of it.
bool take_sample_as_converted(int signal, const siginfo_t& info, void* context) noexcept;

}  // namespace hpcrun
