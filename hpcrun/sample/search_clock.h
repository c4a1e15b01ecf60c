#pragma once
// Controls a second perf event of CPUTIME that all threads inherit, for periods that need a high sampling
// rate. At other times the program pays for the samples of the first event only. Used if CPUTIME is sampled
// by perf's clock (Source::SigtrapAll). Otherwise CPUTIME has the higher rate (Config::search_rate) all the
// time.
//
// Whichever event fires, a sample represents the CPU time since the previous sample of its thread.
//
// A process with one thread has no contention: its rate is even lower until it creates a second thread.
//
// Async-signal-safe.

#include <cstdint>

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Must be called once the event's source is chosen, before there are other threads.
void open_search_clock(uint32_t event, Source source) noexcept;

// Makes the higher rate the first event's from now on: there is no second event any more, or it is not
// available.
void sample_often_only(uint32_t event) noexcept;

// Must be called before the process creates another thread.
void leave_lone_rate() noexcept;

// Switches to the high or the low sampling rate.
void sample_often(bool often) noexcept;

// Must be called after all perf events were enabled, some of which may have been disabled before.
void rest_search_clock() noexcept;

// Returns the sampling period of an unconverted thread, in ns of CPU time.
inline uint64_t clock_period_ns(uint32_t event) noexcept {
  const uint32_t rate = process_state.searches.load(std::memory_order_relaxed)
                            ? process_state.config.search_rate
                            : process_state.config.events[event].rate;
  return 1'000'000'000u / rate;
}

}  // namespace hpcrun
