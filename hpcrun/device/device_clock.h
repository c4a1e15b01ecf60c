#pragma once
// Converts the times that OpenCL reports for commands, and CUPTI for records, to CLOCK_MONOTONIC. It is not
// specified which clock a device uses (PoCL: CLOCK_MONOTONIC_RAW), and clGetDeviceAndHostTimer may not work.
// But the time at which a command was queued lies between the host's times before and after the enqueuing
// call, which brackets the difference of the clocks. If the bracket contains the difference to one of the
// kernel's clocks, the device uses that clock, and the difference is exact. Otherwise the middle of recent
// brackets is used; these are some microseconds wide.
//
// Not thread-safe. Depends on neither OpenCL nor CUPTI.

#include <cstdint>

namespace hpcrun {

class DeviceClock {
 public:
  // True if the clocks should be compared again.
  bool is_due(uint64_t now_ns) const noexcept { return now_ns - looked_ns_ >= kIntervalNs; }

  // Takes the device's time `queued` of a command that was enqueued between these times of CLOCK_MONOTONIC.
  void observe(uint64_t before_ns, uint64_t queued, uint64_t after_ns, uint64_t now_ns) noexcept;

  // Converts the device's `time` to CLOCK_MONOTONIC, within [not_before_ns, not_after_ns].
  uint64_t monotonic(uint64_t time, uint64_t not_before_ns, uint64_t not_after_ns) const noexcept;

  // Returns the kernel's clock that the device uses, or -1.
  int kernel_clock() const noexcept { return kernel_clock_; }
  int64_t offset_ns() const noexcept { return offset_; }

 private:
  // Clocks drift apart by up to 500 parts per million if NTP slews one of them: 5 us in this interval.
  static constexpr uint64_t kIntervalNs = 10'000'000;

  void look(int64_t low, int64_t high, uint64_t now_ns) noexcept;

  int64_t offset_ = 0;  // monotonic minus device time
  int64_t low_ = 0;     // the difference was between these at the last comparison
  int64_t high_ = 0;
  uint64_t looked_ns_ = 0;
  int kernel_clock_ = -1;
  bool has_bracket_ = false;
};

}  // namespace hpcrun
