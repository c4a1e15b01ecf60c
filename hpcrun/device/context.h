#pragma once
// The calling context of a call of a device's interface, as the program sees it.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// The path of the calling thread that ends in `function`: without our frames, and without those of the
// interface that lie between it and us. `here` was captured (unwind/capture.h) by a function of ours that was
// called by another one of ours, and has not returned. The thread is busy, and stays so while the path is
// used. There is room for one frame before the first. `record`: what it depends on.
Stack context_of_call(ThreadState& thread, const ucontext_t& here, const void* function,
                      WalkRecord& record) noexcept;

// Where a walk from there begins.
WalkOrigin origin_of(const ucontext_t& here) noexcept;

}  // namespace hpcrun
