#pragma once
// Arms and disarms the sample sources of a process and its threads. Runs outside handlers.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Chooses a source for every configured event, in the order of docs/sampling.md, on the first thread of the
// process. Describes each in the measurement file, with the degradation if it is not the best one. Sets what
// waiting.h needs. Must be called before the first arm_thread().
void choose_sources() noexcept;

// Describes the sources that a forked child inherited.
void describe_sources() noexcept;

// Opens a perf event of a thread (0: the calling one), disabled, that raises the timers' signal. Returns
// false if that fails; what was created stays in the state.
bool open_setsig(EventState& state, uint32_t event, int tid) noexcept;

// Start and stop this thread's part: its own timers and events. disarm_thread() leaves none of our signals
// pending.
void arm_thread(ThreadState& thread) noexcept;
void disarm_thread(ThreadState& thread) noexcept;

// Starts the sources of a thread that existed before the runtime, from another thread. Threads that it
// creates inherit them if all threads share an event.
void arm_late_thread(ThreadState& thread, LateThreads& late) noexcept;

// Returns the thread's CPU time since measuring began, or 0 if it no longer exists.
uint64_t thread_cpu_ns(const ThreadState& thread) noexcept;

// Replaces the shared event by timers. Returns false if it is not in use. arm_cpu_timer() then arms a thread,
// which need not be the calling one.
bool choose_timers_instead_of_sigtrap() noexcept;
void arm_cpu_timer(ThreadState& thread) noexcept;

// Must be called after process_state.timer_signal changed: the thread's sources that raised the old signal
// raise the new one. The thread need not be the calling one.
void rearm_timers(ThreadState& thread) noexcept;

// Start and stop the event that all threads share.
void start_inherited_event() noexcept;
void stop_inherited_event() noexcept;

// Disable and enable all perf events of the calling thread, and the one that all threads share.
// Async-signal-safe.
void pause_events() noexcept;
void resume_events() noexcept;

// Slows down or disables a thread's own timers and events, or the event that all threads share, during a
// pause, and restores them after it. The thread need not be the calling one.
void pace_thread(ThreadState& thread, bool resting) noexcept;
void pace_inherited_event(bool resting) noexcept;

// Returns the signals that sources in use raise, as a kernel mask (bit n-1 for signal n).
uint64_t source_signals() noexcept;

}  // namespace hpcrun
