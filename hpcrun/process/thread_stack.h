#pragma once
// The stack of a thread that the runtime has not created.

#include "hpcrun/unwind/unwinder.h"

namespace hpcrun {

// Returns the bounds of the stack that the calling thread runs on, from /proc/self/maps: of the process's first
// stack down to its limit, of another the mapping. Empty without /proc. Allocates nothing and takes no lock, as
// pthread_getattr_np() does; one caller at a time.
StackBounds stack_of_caller() noexcept;

}  // namespace hpcrun
