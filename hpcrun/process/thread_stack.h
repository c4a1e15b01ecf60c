#pragma once
// The stack of a thread that the runtime has not created.

#include "hpcrun/unwind/unwinder.h"

namespace hpcrun {

// Returns the bounds of the stack that the calling thread runs on, from /proc/self/maps. For the first stack
// of the process they extend down to its limit; for any other they are those of the mapping. Empty without
// /proc. In contrast to pthread_getattr_np(), allocates nothing and takes no lock. One caller at a time.
StackBounds stack_of_caller() noexcept;

}  // namespace hpcrun
