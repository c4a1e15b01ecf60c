#include "hpcrun/contention/watch.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

// Returns a descriptor, or a negated errno.
int open_breakpoint(int tid, uint64_t address, uint64_t signal_data) noexcept {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_RW;
  attr.bp_addr = address;
  attr.bp_len = HW_BREAKPOINT_LEN_8;
  attr.sample_period = 1;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.sigtrap = 1;
  attr.remove_on_exec = 1;
  attr.sig_data = signal_data;
  constexpr int kAnyCpu = -1;
  constexpr int kNoGroup = -1;
  const long descriptor = raw_syscall(SYS_perf_event_open, reinterpret_cast<long>(&attr), tid, kAnyCpu,
                                      kNoGroup, PERF_FLAG_FD_CLOEXEC);
  return static_cast<int>(descriptor < 0 ? descriptor : adopt_descriptor(static_cast<int>(descriptor)));
}

}  // namespace

int Watch::arm(int tid, uint64_t line, uint8_t words, uint32_t hits, uint64_t signal_data) noexcept {
  disarm();
  int failure = 0;
  for (uint32_t word = 0; word < 8 && count_ < kWatchedWords; ++word) {
    if (!(words >> word & 1)) continue;
    const int descriptor = open_breakpoint(tid, line + word * kWordBytes, signal_data + word);
    if (descriptor < 0) {
      failure = descriptor;
      break;
    }
    descriptors_[count_++] = descriptor;
  }
  // Enables all as nearly at once as possible. PERF_EVENT_IOC_REFRESH stops an event after so many hits.
  for (uint32_t i = 0; i < count_; ++i) raw_syscall(SYS_ioctl, descriptors_[i], PERF_EVENT_IOC_REFRESH, hits);
  return count_ ? static_cast<int>(count_) : failure;
}

void Watch::disarm() noexcept {
  while (count_) close_own_descriptor(descriptors_[--count_]);
}

}  // namespace hpcrun
