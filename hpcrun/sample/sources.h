#pragma once
// Arms and disarms the sample sources of a process and its threads. Runs outside handlers.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Chooses a source for every configured event, in the order of docs/sampling.md, on the first thread of the
// process; describes each, with the degradation where it is not the best one, in the measurement file; notes
// what waiting.h has to know.
// Call before the first arm_thread().
void choose_sources() noexcept;

// Describes the sources that a forked child has from its parent.
void describe_sources() noexcept;

// Opens a perf event of a thread (0: the calling one), disabled, that raises the timers' signal. Returns false if
// that fails; what was made stays in the state.
bool open_setsig(EventState& state, uint32_t event, int tid) noexcept;

// Starts and stops this thread's part: timers and events of its own. disarm leaves no signal of ours pending.
void arm_thread(ThreadState& thread) noexcept;
void disarm_thread(ThreadState& thread) noexcept;

// Starts the sources of a thread that was there before the runtime, from another one. The threads that it
// creates inherit them where all threads share an event.
void arm_late_thread(ThreadState& thread, LateThreads& late) noexcept;

// The thread's CPU time since measuring began; 0 when it is gone.
uint64_t thread_cpu_ns(const ThreadState& thread) noexcept;

// Gives up the shared event for timers; false when it is not in use. arm_cpu_timer() then arms a thread,
// which need not be the calling one.
bool choose_timers_instead_of_sigtrap() noexcept;
void arm_cpu_timer(ThreadState& thread) noexcept;

// process_state.timer_signal has changed: what raised the old one in the thread, which need not be the
// calling one, raises the new one.
void rearm_timers(ThreadState& thread) noexcept;

// Starts and stops the event that all threads share.
void start_inherited_event() noexcept;
void stop_inherited_event() noexcept;

// Lets all perf events of the calling thread, and the one that all threads share, rest and go on.
// Async-signal-safe.
void pause_events() noexcept;
void resume_events() noexcept;

// Lets a thread's own timers and events, or the event that all threads share, rest during a pause and go on
// after it. The thread need not be the calling one.
void pace_thread(ThreadState& thread, bool resting) noexcept;
void pace_inherited_event(bool resting) noexcept;

// The kernel signal numbers that sources in use raise, as a mask (bit n-1 for signal n).
uint64_t source_signals() noexcept;

}  // namespace hpcrun
