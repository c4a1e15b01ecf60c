#include "hpcrun/sample/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

void fill(const PerfRequest& request, perf_event_attr& attr) noexcept {
  attr.size = sizeof attr;
  attr.type = request.type;
  attr.config = request.config;
  attr.disabled = 1;
  attr.exclude_kernel = request.exclude_kernel;
  attr.exclude_hv = !request.excludes_nothing;
  const bool is_clock = request.type == PERF_TYPE_SOFTWARE && (request.config == PERF_COUNT_SW_CPU_CLOCK ||
                                                               request.config == PERF_COUNT_SW_TASK_CLOCK);
  if (is_clock) {
    attr.sample_period = request.first_period_ns ? request.first_period_ns : 1'000'000'000u / request.rate;
  } else {
    attr.freq = 1;
    attr.sample_freq = request.rate;
  }
  attr.config1 = request.config1;
  attr.config2 = request.config2;
  attr.precise_ip = request.precise_ip & 3;
  if (request.record_fields) {
    attr.sample_type = request.record_fields;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
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

HPCRUN_FORK_PATH int open_perf_event(const PerfRequest& request) noexcept {
  perf_event_attr attr{};
  fill(request, attr);
  constexpr int kAnyCpu = -1;
  constexpr int kNoGroup = -1;
  const long descriptor = raw_syscall(SYS_perf_event_open, reinterpret_cast<long>(&attr), request.tid,
                                      kAnyCpu, kNoGroup, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return static_cast<int>(descriptor);
  if (request.number >= 0) return replace_own_descriptor(static_cast<int>(descriptor), request.number);
  if (!request.is_spare) return adopt_descriptor(static_cast<int>(descriptor));
  const int adopted = adopt_spare_descriptor(static_cast<int>(descriptor));
  return adopted < 0 ? -EMFILE : adopted;
}

void begin_whole_periods(int descriptor, uint32_t rate) noexcept {
  const uint64_t period = 1'000'000'000u / rate;
  raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_PERIOD, reinterpret_cast<long>(&period));
}

uint64_t read_perf_event(int descriptor) noexcept {
  uint64_t count = 0;
  raw_syscall(SYS_read, descriptor, reinterpret_cast<long>(&count), sizeof count);
  return count;
}

HPCRUN_FORK_PATH void enable_perf_event(int descriptor) noexcept {
  raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ENABLE, 0);
}

void disable_perf_event(int descriptor) noexcept {
  raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_DISABLE, 0);
}

HPCRUN_FORK_PATH bool is_perf_event(int descriptor) noexcept {
  uint64_t id;
  return raw_syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ID, reinterpret_cast<long>(&id)) == 0;
}

void renew_perf_signals(int descriptor) noexcept {
  // The kernel records the number when O_ASYNC is enabled.
  const long flags = raw_syscall(SYS_fcntl, descriptor, F_GETFL);
  if (flags < 0 || !(flags & O_ASYNC)) return;
  raw_syscall(SYS_fcntl, descriptor, F_SETFL, flags & ~O_ASYNC);
  raw_syscall(SYS_fcntl, descriptor, F_SETFL, flags);
}

}  // namespace hpcrun
