#pragma once
// Changes the sample sources of all threads while they run. Not async-signal-safe.

namespace hpcrun {

// The program wants SIGTRAP for itself: every thread's CPUTIME is sampled by a timer from now on.
void stop_using_sigtrap() noexcept;

// Timers and F_SETSIG of all threads raise another signal from now on, which is owned already.
void use_timer_signal(int signal) noexcept;

// Measuring was paused or goes on: sources of all threads follow. What was changed by others meanwhile
// stands.
void follow_pause() noexcept;

}  // namespace hpcrun
