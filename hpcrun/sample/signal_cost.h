#pragma once
// Measures what the kernel takes to interrupt a thread by a signal and to resume it: some microseconds, more
// in virtual machines. The total grows with the sampling rate, and the brake in the handler (sample_brake.h)
// cannot reduce it. Rates at which it would take too large a share of the time are lowered.

#include <algorithm>
#include <cstdint>

#include "hpcrun/sample/sample_brake.h"

namespace hpcrun {

// Rates up to this one are used as requested, in samples per second.
constexpr uint32_t kRateAsRequested = 4'000;

// Returns the highest rate, at most `requested`, at which signals of `signal_ns` each take no larger share of
// the time than samples may (SampleBrake). 0 ns: not known.
constexpr uint32_t affordable_rate(uint32_t requested, uint64_t signal_ns) noexcept {
  if (requested <= kRateAsRequested || signal_ns == 0) return requested;
  const uint64_t most = 1'000'000'000 / SampleBrake::kPeriodsPerCost / signal_ns;
  return static_cast<uint32_t>(std::clamp<uint64_t>(most, kRateAsRequested, requested));
}

// Returns the median of times in ns, which it reorders; 0 if there are none.
uint64_t median(uint64_t* times, uint32_t count) noexcept;

// Lowers the rates of events whose sources are chosen (sources.h) and whose signals are ours, and writes a
// note to the measurement file. Signals of each event with a rate above kRateAsRequested interrupt the
// calling thread for some 15 of its periods (1 to 4 ms), once in a process and its forked children. Must be
// called before sampling begins; not async-signal-safe.
void lower_rates() noexcept;

}  // namespace hpcrun
