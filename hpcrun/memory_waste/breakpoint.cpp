#include "hpcrun/memory_waste/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <atomic>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

std::atomic<bool> excludes_kernel{false};

perf_event_attr attributes(const BreakpointRange& range, Breakpoint::On accesses,
                           uint64_t signal_data) noexcept {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  // x86 cannot watch loads alone.
  attr.bp_type = accesses == Breakpoint::On::Stores ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
  attr.bp_addr = range.address;
  attr.bp_len = range.length;
  attr.sample_period = 1;
  attr.exclude_kernel = excludes_kernel.load(std::memory_order_relaxed);
  attr.exclude_hv = 1;
  attr.sigtrap = 1;
  attr.remove_on_exec = 1;
  attr.sig_data = signal_data;
  return attr;
}

long open_event(const perf_event_attr& attr) noexcept {
  constexpr int kThisThread = 0, kAnyCpu = -1, kNoGroup = -1;
  return raw_syscall(SYS_perf_event_open, reinterpret_cast<long>(&attr), kThisThread, kAnyCpu, kNoGroup,
                     PERF_FLAG_FD_CLOEXEC);
}

bool is_refusal(long error) noexcept {
  return error == -EACCES || error == -EPERM;
}

}  // namespace

int Breakpoint::arm(const BreakpointRange& range, On accesses, uint64_t signal_data) noexcept {
  perf_event_attr attr = attributes(range, accesses, signal_data);
  if (number_) {
    if (raw_syscall(SYS_ioctl, number_ - 1, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
                    reinterpret_cast<long>(&attr)) == 0)
      return 0;
    close();
  }
  long descriptor = open_event(attr);
  if (is_refusal(descriptor) && !attr.exclude_kernel) {
    attr.exclude_kernel = 1;
    descriptor = open_event(attr);
    if (descriptor >= 0) excludes_kernel.store(true, std::memory_order_relaxed);
  }
  if (descriptor < 0) return static_cast<int>(descriptor);
  const int kept = adopt_spare_descriptor(static_cast<int>(descriptor));
  if (kept < 0) return -EMFILE;
  number_ = 1 + kept;
  return 0;
}

void Breakpoint::disarm() noexcept {
  if (number_) raw_syscall(SYS_ioctl, number_ - 1, PERF_EVENT_IOC_DISABLE, 0);
}

void Breakpoint::close() noexcept {
  if (number_) close_own_descriptor(number_ - 1);
  number_ = 0;
}

bool excludes_kernel_accesses() noexcept {
  return excludes_kernel.load(std::memory_order_relaxed);
}

}  // namespace hpcrun
