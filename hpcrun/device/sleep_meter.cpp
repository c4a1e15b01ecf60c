#include "hpcrun/device/sleep_meter.h"

#include <sys/resource.h>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

ThreadUsage thread_usage() noexcept {
  rusage usage{};
  raw_syscall(SYS_getrusage, RUSAGE_THREAD, reinterpret_cast<long>(&usage));
  const auto ns = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_usec) * 1000u;
  };
  return {ns(usage.ru_utime) + ns(usage.ru_stime), static_cast<uint64_t>(usage.ru_nvcsw)};
}

}  // namespace hpcrun
