#pragma once
// Memory for allocations made while the program's allocator is being looked up, such as the loader's. It is
// never released.

#include <cstddef>

namespace hpcrun {

// Returns zeroed memory, aligned to 16 bytes, or nullptr with errno ENOMEM if none is left.
void* allocate_early(size_t bytes) noexcept;

bool is_early(const void* at) noexcept;

// Returns the number of bytes that were requested.
size_t early_bytes(const void* at) noexcept;

}  // namespace hpcrun
