#pragma once
// Handles samples that come while measuring is paused, and the first ones after a pause. Perf events are
// disabled from outside the handler. Timers continue at a rate at which they cost nothing, and thereby detect
// the end of the pause. Everything here is async-signal-safe.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// The kernel's tick limits CPU timers: they deliver at most this rate (CONFIG_HZ=250 is Debian's).
constexpr uint32_t kCpuTimerRate = 250;

// Returns the interval between signals of the event's timers, in nanoseconds.
uint64_t timer_period_ns(uint32_t event) noexcept;

// Slows down the timer of an event whose sample came during a pause.
void rest(EventState& state) noexcept;

// Returns the part of the weight of a sample at `now` that elapsed outside pauses. Exact for the wall clock,
// also during a pause. For CPU clocks, the time before a pause is excluded, because they do not show what
// elapsed during it.
uint64_t without_pauses(EventState& state, uint32_t event, uint64_t weight, uint64_t now) noexcept;

// Stop the event's timer, and restart it at its rate. Must be called by its own thread.
void stop_timer(EventState& state) noexcept;
void restart_timer(EventState& state, uint32_t event) noexcept;

// Slows the event's timer down, or restores its rate, at once. The thread may be another one.
void pace_timer(EventState& state, uint32_t event, bool resting) noexcept;

}  // namespace hpcrun
