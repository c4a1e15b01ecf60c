#include "hpcrun/sample/source_events.h"

#include <errno.h>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/sample/handler.h"

namespace hpcrun {

// In one piece: members assigned to later begin as a constant in memory, a page that a child would enter.
HPCRUN_FORK_PATH PerfRequest clock_request(uint32_t event, bool user_only) noexcept {
  return {.rate = process_state.config.events[event].rate,
          .signal_data = perf_signal_data(event),
          .inherit_threads = true,
          .exclude_kernel = user_only};
}

int open_counter(uint32_t event, int tid) noexcept {
  const EventSpec& spec = process_state.config.events[event];
  PerfRequest request;
  request.type = spec.perf_type;
  request.config = spec.perf_config;
  request.rate = spec.rate;
  request.signal_data = perf_signal_data(event);
  request.tid = tid;
  int descriptor = open_perf_event(request);
  if (descriptor == -EACCES || descriptor == -EPERM) {
    request.exclude_kernel = true;
    descriptor = open_perf_event(request);
  }
  return descriptor < 0 ? kNoDescriptor : descriptor;
}

// Linux uapi posix-timers.h: per-thread, CPUCLOCK_SCHED.
clockid_t cpu_clock_of(int tid) noexcept {
  constexpr int kPerThread = 4;
  constexpr int kSched = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | kPerThread | kSched);
}

}  // namespace hpcrun
