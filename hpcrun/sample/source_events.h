#pragma once
// How the events of the configuration are opened: to find out whether they can be, and for threads.
// Async-signal-safe.

#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

// CPUTIME by the kernel's clock event, which threads inherit.
PerfRequest clock_request(uint32_t event, bool user_only) noexcept;

// A counter of the thread's (0: the calling one), of what it does in the kernel as well where that is
// allowed. Its descriptor, or kNoDescriptor.
int open_counter(uint32_t event, int tid) noexcept;

// The CPU clock of any thread of this process.
clockid_t cpu_clock_of(int tid) noexcept;

}  // namespace hpcrun
