#include "hpcrun/sample/perf_event.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

void fill(const PerfRequest& request, perf_event_attr& attr) noexcept {
  attr.size = sizeof attr;
  attr.type = request.type;
  attr.config = request.config;
  attr.disabled = 1;
  attr.exclude_kernel = request.exclude_kernel;
  attr.exclude_hv = 1;
  const bool is_clock = request.type == PERF_TYPE_SOFTWARE && (request.config == PERF_COUNT_SW_CPU_CLOCK ||
                                                               request.config == PERF_COUNT_SW_TASK_CLOCK);
  if (is_clock) {
    attr.sample_period = 1'000'000'000u / request.rate;
  } else {
    attr.freq = 1;
    attr.sample_freq = request.rate;
  }
  if (request.inherit_threads) {
    attr.inherit = 1;
    attr.inherit_thread = 1;
  }
  if (request.sigtrap) {
    attr.sigtrap = 1;
    attr.remove_on_exec = 1;
    attr.sig_data = request.signal_data;
  } else {
    attr.wakeup_events = 1;
  }
}

}  // namespace

int open_perf_event(const PerfRequest& request) noexcept {
  perf_event_attr attr{};
  fill(request, attr);
  constexpr int kThisThread = 0;
  constexpr int kAnyCpu = -1;
  constexpr int kNoGroup = -1;
  const long descriptor = raw_syscall(SYS_perf_event_open, reinterpret_cast<long>(&attr), kThisThread,
                                      kAnyCpu, kNoGroup, PERF_FLAG_FD_CLOEXEC);
  return static_cast<int>(descriptor < 0 ? descriptor : move_to_top(static_cast<int>(descriptor)));
}

int move_to_top(int descriptor) noexcept {
  rlimit limit{};
  if (raw_syscall(SYS_getrlimit, RLIMIT_NOFILE, reinterpret_cast<long>(&limit)) < 0) return descriptor;
  // Room for as many of ours as there are below the limit; a huge limit would make the kernel grow the table.
  constexpr rlim_t kHighest = 4096;
  constexpr rlim_t kRoom = 16;
  const rlim_t top = limit.rlim_cur < kHighest ? limit.rlim_cur : kHighest;
  if (top <= kRoom || static_cast<rlim_t>(descriptor) >= top - kRoom) return descriptor;
  const long moved = raw_syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, static_cast<long>(top - kRoom));
  if (moved < 0) return descriptor;
  raw_syscall(SYS_close, descriptor);
  return static_cast<int>(moved);
}

void enable_perf_event(int descriptor) noexcept {
  raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ENABLE, 0);
}

void disable_perf_event(int descriptor) noexcept {
  raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_DISABLE, 0);
}

}  // namespace hpcrun
