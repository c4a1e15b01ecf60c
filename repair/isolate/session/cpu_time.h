#pragma once
// Detects whether the program has the kernel watch its CPU time: by timers (setitimer(2), timer_create(2)), a
// limit (RLIMIT_CPU) or a sleep. The kernel counts the tasks of one process and misses converted threads, so
// all threads stay at home as long as it watches. The runtime's own timers follow threads into their
// conversion and do not count. Async-signal-safe.

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Must be called at home.
bool has_cpu_timers() noexcept;

// True if this call of the program starts one of these.
bool starts_cpu_timer(const SystemCall& call) noexcept;

}  // namespace hpcrun
