#pragma once
// Detects whether the program uses CPU-time timers (setitimer(2), timer_create(2)), a CPU-time limit
// (RLIMIT_CPU) or a sleep by a CPU clock. The kernel counts the tasks of one process and misses converted
// threads, so all threads stay at home while one of these is in use. The runtime's own timers follow threads
// into their conversion and do not count. Async-signal-safe; must be called at home.

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

bool has_cpu_timers() noexcept;

// True if this call of the program starts one of these.
bool starts_cpu_timer(const SystemCall& call) noexcept;

}  // namespace hpcrun
