#pragma once
// Memory for who allocates while the program's allocator is being looked up: the loader does. It is never
// given back.

#include <cstddef>

namespace hpcrun {

// Zeroed, aligned to 16 bytes; nullptr with errno ENOMEM when all is used.
void* allocate_early(size_t bytes) noexcept;

bool is_early(const void* at) noexcept;

// How many bytes were asked for.
size_t early_bytes(const void* at) noexcept;

}  // namespace hpcrun
