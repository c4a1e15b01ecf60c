#include "hpcrun/device/device_clock.h"

#include <time.h>

#include <algorithm>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

// In the order of trying: if two of them show the same time, the first is used.
constexpr int kKernelClocks[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_REALTIME};

// Some drivers round their times, and our readings are not simultaneous.
constexpr int64_t kToleranceNs = 2'000;

constexpr int64_t kWideNs = 100'000;

// Upper limit of the drift between two clocks.
constexpr uint64_t kDriftPpm = 500;
constexpr uint64_t kMaxUs = 1'000'000'000'000;

int64_t difference_to(int clock) noexcept {
  if (clock == CLOCK_MONOTONIC) return 0;
  // Uses the shortest of several readings, which was not interrupted.
  int64_t best = 0;
  uint64_t shortest = ~uint64_t{0};
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = monotonic_ns();
    const uint64_t there = sys_clock_ns(clock);
    const uint64_t after = monotonic_ns();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = static_cast<int64_t>(before + shortest / 2 - there);
  }
  return best;
}

}  // namespace

void DeviceClock::observe(uint64_t before_ns, uint64_t queued, uint64_t after_ns, uint64_t now_ns) noexcept {
  if (queued == 0 || after_ns < before_ns) return;
  look(static_cast<int64_t>(before_ns - queued), static_cast<int64_t>(after_ns - queued), now_ns);
}

void DeviceClock::look(int64_t low, int64_t high, uint64_t now_ns) noexcept {
  const auto fits = [=](int64_t offset) {
    return offset >= low - kToleranceNs && offset <= high + kToleranceNs;
  };
  // A thread that was descheduled while enqueuing gives a wide bracket, which is used only if there is
  // nothing better.
  const bool is_wide = high - low > kWideNs;
  if (is_wide && looked_ns_ != 0) return;
  const uint64_t since = looked_ns_ ? now_ns - looked_ns_ : 0;
  if (!is_wide) looked_ns_ = now_ns;

  if (kernel_clock_ >= 0) {
    offset_ = difference_to(kernel_clock_);
    if (fits(offset_)) return;
    kernel_clock_ = -1;  // it was a coincidence
    has_bracket_ = false;
  }
  for (const int clock : kKernelClocks) {
    const int64_t offset = difference_to(clock);
    if (!fits(offset)) continue;
    kernel_clock_ = clock;
    offset_ = offset;
    return;
  }

  // The previous bracket has widened by the possible drift since.
  const auto drift = static_cast<int64_t>(std::min(since / 1'000, kMaxUs) * kDriftPpm / 1'000);
  const int64_t narrow_low = std::max(low, low_ - drift);
  const int64_t narrow_high = std::min(high, high_ + drift);
  const bool agree = has_bracket_ && narrow_low <= narrow_high;
  low_ = agree ? narrow_low : low;
  high_ = agree ? narrow_high : high;
  has_bracket_ = !is_wide;
  offset_ = low_ + (high_ - low_) / 2;
}

uint64_t DeviceClock::monotonic(uint64_t time, uint64_t not_before_ns, uint64_t not_after_ns) const noexcept {
  const uint64_t there = time + static_cast<uint64_t>(offset_);
  return std::min(std::max(there, not_before_ns), not_after_ns);
}

}  // namespace hpcrun
