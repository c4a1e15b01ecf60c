#pragma once
// Whether the program has the kernel watch its CPU time: by timers (setitimer(2), timer_create(2)), a limit
// (RLIMIT_CPU) or a sleep. The kernel counts that of the process's own tasks, and converted threads are none:
// as long as it watches, all threads are at home. The runtime's timers, which follow threads into their
// converted threads, are none of the program's. Async-signal-safe, at home.

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

bool is_cpu_time_watched() noexcept;

// Whether it will be after this call of the program's.
bool begins_to_watch_cpu_time(const SystemCall& call) noexcept;

}  // namespace hpcrun
