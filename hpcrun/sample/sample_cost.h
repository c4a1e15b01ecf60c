#pragma once
// Measures what a sample costs, for the brake of its event (sample_brake.h). Part of the sample path:
// async-signal-safe.

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/rest.h"
#include "hpcrun/sample/search_clock.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

// Returns the interval between two signals, in ns of the event's clock.
inline uint64_t signal_period_ns(uint32_t event) noexcept {
  switch (process_state.sources[event]) {
    case Source::CpuTimer:
    case Source::MonotonicTimer:
      return timer_period_ns(event);
    default:
      return clock_period_ns(event);
  }
}

// Times the walk and the insertion into the tree, which grow with the stack. Observers have limits of their
// own.
class SampleCost {
 public:
  // `now` is CLOCK_MONOTONIC in ns.
  SampleCost(ThreadState& thread, uint32_t event, uint64_t now) noexcept
      : brake_(thread.events[event].brake),
        event_(event),
        by_cpu_(brake_.times_by_cpu()),
        begin_(by_cpu_ ? sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) : now) {}

  void charge() noexcept {
    const uint64_t end = by_cpu_ ? sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) : monotonic_ns();
    if (end > begin_) brake_.charge(end - begin_, signal_period_ns(event_));
  }

 private:
  SampleBrake& brake_;
  uint32_t event_;
  bool by_cpu_;
  uint64_t begin_;
};

}  // namespace hpcrun
