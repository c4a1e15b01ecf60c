#pragma once
// Starts POSIX timers that raise the samples of one thread. Runs outside handlers.

#include <ctime>

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Creates and starts the timer of an event: it expires after `first_ns`, and then `rate` times a second of
// its clock. 0: the first period is a whole one too. Returns false if the kernel refuses.
bool start_timer(EventState& state, uint32_t event, clockid_t clock, uint32_t rate, int tid,
                 uint64_t first_ns = 0) noexcept;

}  // namespace hpcrun
