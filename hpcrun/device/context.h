#pragma once
// Determines the calling context of a call of a device's interface, as the program made it.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Returns the calling thread's path that ends in `function`, without our frames and without frames of the
// interface between it and ours. `here` must have been captured (unwind/capture.h) by a function of ours that
// another one of ours called, and that has not returned. The thread must be busy as long as the path is used.
// There is room for one frame before the first. `record` receives what the path depends on.
Stack context_of_call(ThreadState& thread, const ucontext_t& here, const void* function,
                      WalkRecord& record) noexcept;

// Returns the origin of a walk that starts at `here`.
WalkOrigin origin_of(const ucontext_t& here) noexcept;

}  // namespace hpcrun
