#include "hpcrun/device/sleep_meter.h"

#include <sys/resource.h>
#include <time.h>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

// Does not use the times of getrusage(): they are as of the last tick, possibly milliseconds ago.
ThreadUsage thread_usage() noexcept {
  rusage usage{};
  raw_syscall(SYS_getrusage, RUSAGE_THREAD, reinterpret_cast<long>(&usage));
  return {sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), static_cast<uint64_t>(usage.ru_nvcsw)};
}

}  // namespace hpcrun
