#pragma once
// Determines whether other threads of the process ran during a period, by the CPU time that they used.
// Async-signal-safe.

#include <cstdint>
#include <ctime>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

// CPU time of all threads but the calling one: bounds, because two clocks are not read at the same time.
struct OthersTime {
  uint64_t low;
  uint64_t high;
};

inline OthersTime others_time() noexcept {
  const auto above = [](uint64_t all, uint64_t own) { return all > own ? all - own : 0; };
  const uint64_t before = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const uint64_t all = sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const uint64_t after = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  return {above(all, after), above(all, before)};
}

// A thread that wakes up uses more. Reading the clocks twice takes about 1 us.
constexpr uint64_t kMaxOthersNs = 4'000;

// The kernel adds the time of threads on other processors at each of its ticks, at least 100 a second.
constexpr uint64_t kOthersKnownAfterNs = 10'000'000;

// True unless it is certain that no other thread ran. `end` must be read kOthersKnownAfterNs after the
// period.
constexpr bool may_have_run(const OthersTime& begin, const OthersTime& end) noexcept {
  return end.high > begin.low + kMaxOthersNs;
}

}  // namespace hpcrun
