#pragma once
// A second perf event of CPUTIME that all threads inherit, for times at which samples are to come often. At
// others the program pays for those of the first alone. Where CPUTIME is sampled by perf's clock
// (Source::SigtrapAll); otherwise it has the higher rate (Config::search_rate) all the time.
//
// Whichever of both fires, a sample stands for the CPU time since the last one of its thread.
//
// A process with one thread contends with none: until it makes another, its samples come still less often.
//
// Async-signal-safe.

#include <cstdint>

#include "hpcrun/sample/state.h"

namespace hpcrun {

// When the source of the event was chosen, and before there are other threads.
void open_search_clock(uint32_t event, Source source) noexcept;

// There is no second event any more, or none can be had: the first one's rate is the higher one from now on.
void sample_often_only(uint32_t event) noexcept;

// Before the process makes another thread.
void leave_lone_rate() noexcept;

// Samples are to come often from now on, or seldom.
void sample_often(bool often) noexcept;

// After all perf events were switched on, some of which may have been off.
void rest_search_clock() noexcept;

// In ns of CPU time, of the samples of a thread that is at home.
inline uint64_t clock_period_ns(uint32_t event) noexcept {
  const uint32_t rate = process_state.searches.load(std::memory_order_relaxed)
                            ? process_state.config.search_rate
                            : process_state.config.events[event].rate;
  return 1'000'000'000u / rate;
}

}  // namespace hpcrun
