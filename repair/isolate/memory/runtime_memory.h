#pragma once
// The runtime's own memory (hpcrun/guest/own_memory.h) in a program whose memory is common. Converted threads
// run the runtime's code too, in handlers and in calls that it intercepts.

#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

// Returns a source of common memory, or of the kernel's if there is none. Its calls are async-signal-safe.
const MemorySource& common_memory_source() noexcept;

// Must be called in the child of a fork before the runtime uses its memory there.
void empty_pages_after_fork() noexcept;

}  // namespace hpcrun
