#pragma once
// Reads a thread's CPU time across its tasks: its own in the program's process, and the successive processes
// of its conversions (converted_thread.h). Part of the sample path: async-signal-safe, used by its own thread
// only, with undispatched system calls.

#include <sys/resource.h>
#include <time.h>

#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

class TaskClock {
 public:
  // Return the CPU time in nanoseconds, and the part of it in the kernel, which advances only at the kernel's
  // ticks, four milliseconds apart.
  uint64_t cpu_ns() const noexcept { return elsewhere_.cpu_ns + sys_clock_ns(CLOCK_THREAD_CPUTIME_ID); }
  uint64_t system_ns() const noexcept { return elsewhere_.system_ns + own_system_ns(); }

  // Returns the time of converted processes that ended, which the clock of the original task lacks.
  uint64_t of_converted_threads_ns() const noexcept { return converted_threads_.cpu_ns; }

  // See converted_thread.h for when to call these.
  void leave_home() noexcept { elsewhere_ = sum_with_own(converted_threads_); }
  void end_converted_thread() noexcept { converted_threads_ = sum_with_own(converted_threads_); }
  void come_home() noexcept { elsewhere_ = converted_threads_; }

 private:
  struct Used {
    uint64_t cpu_ns = 0;
    uint64_t system_ns = 0;
  };

  static uint64_t own_system_ns() noexcept {
    rusage usage{};
    raw_syscall(SYS_getrusage, RUSAGE_THREAD, reinterpret_cast<long>(&usage));
    return static_cast<uint64_t>(usage.ru_stime.tv_sec) * 1'000'000'000u +
           static_cast<uint64_t>(usage.ru_stime.tv_usec) * 1'000u;
  }
  static Used sum_with_own(const Used& used) noexcept {
    return {used.cpu_ns + sys_clock_ns(CLOCK_THREAD_CPUTIME_ID), used.system_ns + own_system_ns()};
  }

  Used elsewhere_;          // of all tasks except the current one
  Used converted_threads_;  // of converted processes that ended
};

}  // namespace hpcrun
