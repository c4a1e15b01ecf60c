#pragma once
// Tracks a thread's CPU clock at samples of the perf clock, mostly without reading it. Part of the sample
// path: async-signal-safe, used by its own thread only.
//
// Reading the clock is a system call and costs as much as the rest of a sample. The perf clock fires once per
// period of CPU time; after a late sample, the next one comes sooner. Thus after a sample that was on time,
// one period of CPU time elapses, minus the delay in handling that sample. CPU time cannot exceed wall time:
// if that is also about a period, it is used as the CPU time. The next reading corrects the error of these
// estimates. It comes soon enough that their slacks add up to less than half a period, and rarely enough that
// its cost does not matter.

#include <algorithm>
#include <cstdint>

namespace hpcrun {

// Sets `last`, a clock's last reading, to `now` and returns the time elapsed. Clocks of different precision
// may step back.
inline uint64_t elapsed(uint64_t& last, uint64_t now) noexcept {
  if (now <= last) return 0;
  const uint64_t delta = now - last;
  last = now;
  return delta;
}

// All times in ns.
class SampledCpuClock {
 public:
  static constexpr uint32_t kEstimatesInARow = 15;
  static constexpr uint64_t kMaxSlackNs = 20'000;

  void start(uint64_t cpu, uint64_t wall) noexcept { *this = SampledCpuClock(cpu, wall); }

  // Returns the CPU time since the last sample (or start). Must be called at each sample. `period` is the
  // perf clock's, `read` reads the CPU clock.
  template <typename Read>
  uint64_t advance(uint64_t period, uint64_t wall, Read read) noexcept {
    const uint64_t slack = std::min(period / (2 * (kEstimatesInARow + 1)), kMaxSlackNs);
    const auto is_on_time = [=](uint64_t time) { return time - (period - slack) <= 2 * slack; };
    const uint64_t wall_elapsed = wall - wall_;
    wall_ = wall;
    if (is_on_time(wall_elapsed) && is_on_time(weight_) && estimates_ < kEstimatesInARow) {
      weight_ = wall_elapsed;
      cpu_ += wall_elapsed;
      ++estimates_;
    } else {
      weight_ = elapsed(cpu_, read());
      estimates_ = 0;
    }
    return weight_;
  }

  uint64_t cpu() const noexcept { return cpu_; }  // at the last sample

  SampledCpuClock() = default;

 private:
  SampledCpuClock(uint64_t cpu, uint64_t wall) noexcept : cpu_(cpu), wall_(wall) {}

  uint64_t cpu_ = 0;
  uint64_t wall_ = 0;
  uint64_t weight_ = 0;  // of the last sample
  uint32_t estimates_ = 0;
};

}  // namespace hpcrun
