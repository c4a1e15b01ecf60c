#pragma once
// Limits what the samples of one event cost their thread. Part of the sample path: async-signal-safe, used by
// its own thread only. Zeroed memory is a valid one.
//
// Each signal of the event brings a share of its period, samples are paid from that, and a signal that finds
// a debt takes no sample. So a deep stack is sampled more rarely instead of being sampled all the time: a
// walk that takes longer than a period would otherwise find the next signal pending as it returns, and the
// program would stand still. Sums stay right, since a sample is worth the time since the thread's last one.
//
// What a sample costs is read from a wall clock, which is cheap and counts preemptions. One that seems
// expensive is therefore not charged: it has the next ones timed by the thread's CPU clock, which are.

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hpcrun {

class SampleBrake {
 public:
  // Samples may cost 1/12 of a period: with the delivery of the signals a tenth at the default rate.
  static constexpr uint64_t kPeriodsPerCost = 12;
  // The first samples of a thread take memory and look all code up: some hundred microseconds together.
  static constexpr uint64_t kReserveNs = 2'000'000;

  // At a signal of the event that stands for `periods` of `period_ns`: true if it must not be sampled.
  bool skips(uint64_t period_ns, uint64_t periods) noexcept {
    debt_ns_ -= std::min(debt_ns_, period_ns * periods / kPeriodsPerCost);
    if (debt_ns_ <= kReserveNs) [[likely]]
      return false;
    skipped_ += periods;
    return true;
  }

  // True if the next sample is to be timed by the thread's CPU clock.
  bool times_by_cpu() const noexcept { return times_by_cpu_; }

  // After a sample: what it cost, by the CPU clock if times_by_cpu() was true, else by the wall clock.
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
