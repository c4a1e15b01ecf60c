#pragma once
// Divides a thread's CPU time between two sources of samples: a perf clock that fires in user code only, and
// a timer whose samples represent time in the kernel. Part of the sample path: async-signal-safe, used by its
// own thread only.
//
// The kernel accounts system time in ticks of some milliseconds, too coarse to subtract from each sample: a
// tick that finds a thread in the kernel may exceed the time that it spent there. A perf clock that fires in
// user code only, however, misses one period for each period in the kernel. Therefore a sample that comes on
// time represents all unclaimed time. Only a late sample leaves the system time reported by ticks to the
// samples in the kernel. Both together never represent more than the thread's CPU time.

#include <algorithm>
#include <cstdint>

namespace hpcrun {

// All times in ns. `both` is the thread's CPU time, `system` the part that ticks charged to the kernel.
class SplitCpuClock {
 public:
  void start(uint64_t both, uint64_t system) noexcept { *this = SplitCpuClock(both, system); }

  // Returns the weight of a sample in user code. `period` is the perf clock's, `read_system` reads `system`.
  template <typename Read>
  uint64_t user_sample(uint64_t period, uint64_t both, Read read_system) noexcept {
    uint64_t weight = unclaimed(both);
    if (weight > period + period / 2)
      weight = std::max(period, weight - std::min(weight, unclaimed_system(read_system())));
    claimed_ += weight;
    return weight;
  }

  // Returns the weight of a sample in the kernel.
  uint64_t system_sample(uint64_t both, uint64_t system) noexcept {
    const uint64_t weight = std::min(unclaimed(both), unclaimed_system(system));
    claimed_ += weight;
    claimed_system_ += weight;
    return weight;
  }

  // Returns the sum of all weights, for the change to a source that samples both alike. `both` continues from
  // there.
  uint64_t claimed() const noexcept { return claimed_; }

  SplitCpuClock() = default;

 private:
  SplitCpuClock(uint64_t both, uint64_t system) noexcept : claimed_(both), claimed_system_(system) {}

  uint64_t unclaimed(uint64_t both) const noexcept { return both > claimed_ ? both - claimed_ : 0; }
  uint64_t unclaimed_system(uint64_t system) const noexcept {
    return system > claimed_system_ ? system - claimed_system_ : 0;
  }

  uint64_t claimed_ = 0;         // of `both`, by samples
  uint64_t claimed_system_ = 0;  // of `system`, by samples in the kernel
};

}  // namespace hpcrun
