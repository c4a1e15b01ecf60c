#pragma once
// Memory that lives as long as the process and is inherited by forked children: tables, the module registry,
// paths. (An Arena is neither.) Lock-free, for use in handlers too.

#include <cstddef>

namespace hpcrun {

// Zeroed, aligned to 16 bytes; nullptr when the kernel refuses. Async-signal-safe.
void* lasting_allocate(size_t bytes) noexcept;

// Bytes mapped.
size_t lasting_bytes() noexcept;

}  // namespace hpcrun
