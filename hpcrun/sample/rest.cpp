#include "hpcrun/sample/rest.h"

#include <algorithm>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/search_clock.h"

namespace hpcrun {

namespace {

// Period of a timer during a pause: a resumed thread is measured again after this time at the latest.
constexpr uint64_t kRestingPeriodNs = 100'000'000;

void set_period(EventState& state, uint64_t period_ns) noexcept {
  itimerspec interval{};
  interval.it_interval.tv_sec = static_cast<time_t>(period_ns / 1'000'000'000u);
  interval.it_interval.tv_nsec = static_cast<long>(period_ns % 1'000'000'000u);
  interval.it_value = interval.it_interval;
  // The C library's timer_t is the kernel's number, except for timers that start threads (SIGEV_THREAD).
  raw_syscall(SYS_timer_settime, reinterpret_cast<long>(state.timer), 0, reinterpret_cast<long>(&interval),
              0);
}

bool is_time(uint32_t event) noexcept {
  const EventKind kind = process_state.config.events[event].kind;
  return kind == EventKind::CpuTime || kind == EventKind::RealTime;
}

}  // namespace

uint64_t timer_period_ns(uint32_t event) noexcept {
  const uint32_t rate = process_state.config.events[event].rate;
  const bool is_wall_clock = process_state.sources[event] == Source::MonotonicTimer;
  return 1'000'000'000u / (is_wall_clock ? rate : std::min(rate, kCpuTimerRate));
}

void rest(EventState& state) noexcept {
  if (!state.has_timer || state.timer_rests) return;
  state.timer_rests = true;
  set_period(state, kRestingPeriodNs);
}

uint64_t without_pauses(EventState& state, uint32_t event, uint64_t weight, uint64_t now) noexcept {
  const PauseSwitch pause = process_state.file.pause_switch();
  const uint64_t resumed = pause.resumed_at();
  const bool has_resumed = resumed != state.resumed_ns;
  state.resumed_ns = resumed;
  if (has_resumed) rest_search_clock();  // resuming from outside enables all events
  const uint64_t since_resumed = has_resumed ? now - std::min(now, resumed) : weight;
  if (process_state.sources[event] != Source::MonotonicTimer)
    return is_time(event) ? std::min(weight, since_resumed) : weight;
  const uint64_t paused = pause.paused_ns(now);
  const uint64_t in_pauses = paused - std::min(paused, state.paused_ns);
  state.paused_ns = paused;
  // The length of a pause is added up only after its end was published.
  if (in_pauses == 0) return std::min(weight, since_resumed);
  return weight - std::min(weight, in_pauses);
}

void stop_timer(EventState& state) noexcept {
  if (state.has_timer) set_period(state, 0);
}

void restart_timer(EventState& state, uint32_t event) noexcept {
  if (state.has_timer) set_period(state, state.timer_rests ? kRestingPeriodNs : timer_period_ns(event));
}

void pace_timer(EventState& state, uint32_t event, bool resting) noexcept {
  if (!state.has_timer || state.timer_rests == resting) return;
  state.timer_rests = resting;
  set_period(state, resting ? kRestingPeriodNs : timer_period_ns(event));
}

}  // namespace hpcrun
