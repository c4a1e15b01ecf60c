#pragma once
// Opens the configured events: to check whether they are available, and for threads. Async-signal-safe.

#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

// Returns the request for CPUTIME by the kernel's clock event, which threads inherit.
PerfRequest clock_request(uint32_t event, bool user_only) noexcept;

// Opens a counter of a thread (0: the calling one), including its work in the kernel if that is allowed.
// Returns its descriptor, or kNoDescriptor.
int open_counter(uint32_t event, int tid) noexcept;

// Returns the CPU clock of a thread of this process.
clockid_t cpu_clock_of(int tid) noexcept;

}  // namespace hpcrun
