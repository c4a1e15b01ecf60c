#pragma once
// The calling context of a call of a device's interface, as the program sees it.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// The path of the calling thread that ends in `function`: without our frames, and without those of the
// interface that lie between it and us. The thread is busy, and stays so while the path is used. There is
// room for one frame before the first.
Stack context_of_call(ThreadState& thread, const void* function) noexcept;

}  // namespace hpcrun
