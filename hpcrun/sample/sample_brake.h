#pragma once
// Limits what the samples of one event cost their thread. Part of the sample path: async-signal-safe, used by
// its own thread only. Zeroed memory is a valid initial state.
//
// Each signal of the event adds a share of its period to a budget, and samples are paid from it. A signal
// that finds a debt takes no sample. Thus a deep stack is sampled more rarely. Otherwise, a walk that takes
// longer than a period would find the next signal pending as it returns, and the program would make no
// progress. Sums stay correct, since a sample represents the time since the thread's previous one.
//
// The cost of a sample is measured with a wall clock, which is cheap but includes preemptions. A sample that
// seems expensive is therefore not charged. Instead, the next ones are timed with the thread's CPU clock, and
// these are charged.

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hpcrun {

class SampleBrake {
 public:
  // Samples may cost 1/12 of a period: together with the delivery of signals, a tenth at the default rate.
  static constexpr uint64_t kPeriodsPerCost = 12;
  // The first samples of a thread allocate memory and look up all code: some hundred microseconds together.
  static constexpr uint64_t kReserveNs = 2'000'000;

  // True if the signal must not be sampled. Must be called at each signal of the event. The signal represents
  // `periods` of `period_ns`.
  bool skips(uint64_t period_ns, uint64_t periods) noexcept {
    debt_ns_ -= std::min(debt_ns_, period_ns * periods / kPeriodsPerCost);
    if (debt_ns_ <= kReserveNs) [[likely]]
      return false;
    skipped_ += periods;
    return true;
  }

  // True if the next sample must be timed by the thread's CPU clock.
  bool times_by_cpu() const noexcept { return times_by_cpu_; }

  // Charges a sample's cost, measured by the CPU clock if times_by_cpu() was true, else by the wall clock.
  void charge(uint64_t cost_ns, uint64_t period_ns) noexcept {
    const bool is_expensive = cost_ns > period_ns / kPeriodsPerCost;
    if (times_by_cpu_ || !is_expensive) debt_ns_ += cost_ns;
    times_by_cpu_ = is_expensive;
  }

  // Returns the periods whose signals were skipped since the last call.
  uint64_t take_skipped() noexcept { return std::exchange(skipped_, 0); }

 private:
  uint64_t debt_ns_ = 0;
  uint64_t skipped_ = 0;
  bool times_by_cpu_ = false;
};

}  // namespace hpcrun
