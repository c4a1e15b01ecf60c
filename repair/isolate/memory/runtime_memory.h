#pragma once
// The runtime's own memory (hpcrun/guest/own_memory.h) where all memory of the program is common: converted
// threads run the runtime's code too, in handlers and in calls that it stands in front of.

#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

// Common where there is common memory, the kernel's where there is none. Its calls are async-signal-safe.
const MemorySource& common_memory_source() noexcept;

// In the child of a fork, before the runtime uses its memory there.
void empty_pages_after_fork() noexcept;

}  // namespace hpcrun
