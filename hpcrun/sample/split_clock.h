#pragma once
// A thread's CPU time as two sources of samples share it: a perf clock that fires in user code only, and a
// timer whose samples stand for time in the kernel. Part of the sample path: async-signal-safe, used by its
// own thread only.
//
// The kernel tells system time in ticks of some milliseconds, too coarse to take off each sample: a thread
// that one tick met in the kernel would lose more than it spent there. But a perf clock that fires in user
// code only is silent once a period for each period in the kernel. So a sample that comes on time is worth
// all that no sample stands for yet, and only one that comes late leaves what ticks have told for the samples
// of the kernel. Both together are never worth more than the thread's CPU time.

#include <algorithm>
#include <cstdint>

namespace hpcrun {

// All times in ns. `both` is the thread's CPU time, `system` the part that ticks charged to the kernel.
class SplitCpuClock {
 public:
  void start(uint64_t both, uint64_t system) noexcept { *this = SplitCpuClock(both, system); }

  // What a sample in user code is worth. `period` is the perf clock's, `read_system` reads `system`.
  template <typename Read>
  uint64_t user_sample(uint64_t period, uint64_t both, Read read_system) noexcept {
    uint64_t weight = unclaimed(both);
    if (weight > period + period / 2)
      weight = std::max(period, weight - std::min(weight, untold(read_system())));
    claimed_ += weight;
    return weight;
  }

  // What a sample in the kernel is worth.
  uint64_t system_sample(uint64_t both, uint64_t system) noexcept {
    const uint64_t weight = std::min(unclaimed(both), untold(system));
    claimed_ += weight;
    claimed_system_ += weight;
    return weight;
  }

  // At the change to a source that samples both alike: what they stand for together. `both` goes on from
  // there.
  uint64_t claimed() const noexcept { return claimed_; }

  SplitCpuClock() = default;

 private:
  SplitCpuClock(uint64_t both, uint64_t system) noexcept : claimed_(both), claimed_system_(system) {}

  uint64_t unclaimed(uint64_t both) const noexcept { return both > claimed_ ? both - claimed_ : 0; }
  uint64_t untold(uint64_t system) const noexcept {
    return system > claimed_system_ ? system - claimed_system_ : 0;
  }

  uint64_t claimed_ = 0;         // of `both`, by samples
  uint64_t claimed_system_ = 0;  // of `system`, by samples in the kernel
};

}  // namespace hpcrun
