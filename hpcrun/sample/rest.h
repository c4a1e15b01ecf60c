#pragma once
// What samples do while measuring is paused, and the first ones after it. Perf events are switched off from
// outside the handler; timers go on at a pace at which they cost nothing, and so notice by themselves that
// measuring goes on. Everything here is async-signal-safe.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// The kernel's tick limits CPU timers: a higher rate is delivered at this one (CONFIG_HZ=250 is Debian's).
constexpr uint32_t kCpuTimerRate = 250;

// How far apart the signals of the event's timers are, in nanoseconds.
uint64_t timer_period_ns(uint32_t event) noexcept;

// A sample of the event that came during a pause: slows its timer down.
void rest(EventState& state) noexcept;

// What of the weight of a sample that came at `now` went by outside of pauses. Exact for the wall clock, in a
// pause as well. A CPU clock does not tell what it did in a pause: what came before one is left out.
uint64_t without_pauses(EventState& state, uint32_t event, uint64_t weight, uint64_t now) noexcept;

// Stops the event's timer, and lets it go on at its pace. By its own thread.
void stop_timer(EventState& state) noexcept;
void restart_timer(EventState& state, uint32_t event) noexcept;

// Lets the event's timer rest or go on at once. The thread may be another one.
void pace_timer(EventState& state, uint32_t event, bool resting) noexcept;

}  // namespace hpcrun
