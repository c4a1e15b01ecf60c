#pragma once
// From the times that OpenCL tells of commands, and CUPTI of records, to CLOCK_MONOTONIC. Which clock a
// device counts by is not said (PoCL: CLOCK_MONOTONIC_RAW), and clGetDeviceAndHostTimer need not work. But a
// command's time of being queued lies between the host's times before and after the call that queued it: that
// brackets the difference of the clocks. Where the bracket holds the difference of a clock of the kernel's,
// that clock it is, and the difference is exact; elsewhere it is the middle of the brackets met of late,
// which are some microseconds wide.
//
// Not thread-safe, and free of both.

#include <cstdint>

namespace hpcrun {

class DeviceClock {
 public:
  // Is it time to look at the clocks again?
  bool is_due(uint64_t now_ns) const noexcept { return now_ns - looked_ns_ >= kInterval_ns; }

  // A command that the device's clock saw queued at `queued` was enqueued between these times of
  // CLOCK_MONOTONIC.
  void observe(uint64_t before_ns, uint64_t queued, uint64_t after_ns, uint64_t now_ns) noexcept;

  // CLOCK_MONOTONIC, within [not_before_ns, not_after_ns], when the device's clock showed `time`.
  uint64_t monotonic(uint64_t time, uint64_t not_before_ns, uint64_t not_after_ns) const noexcept;

  // The kernel's clock that the device counts by, or -1.
  int kernel_clock() const noexcept { return kernel_clock_; }
  int64_t offset_ns() const noexcept { return offset_; }

 private:
  // Clocks part by up to 500 parts in a million where NTP slews one of them: 5 us in this time.
  static constexpr uint64_t kInterval_ns = 10'000'000;

  void look(int64_t low, int64_t high, uint64_t now_ns) noexcept;

  int64_t offset_ = 0;  // monotonic less the device's
  int64_t low_ = 0;     // it lay in between as it was last looked at
  int64_t high_ = 0;
  uint64_t looked_ns_ = 0;
  int kernel_clock_ = -1;
  bool has_bracket_ = false;
};

}  // namespace hpcrun
