#pragma once
// Allocates memory that lives as long as the process and is inherited by forked children: tables, the module
// registry, paths. (An Arena has neither property.) Lock-free, also for handlers.

#include <cstddef>

namespace hpcrun {

// Returns zeroed memory, aligned to 16 bytes, or nullptr if the kernel refuses. Async-signal-safe.
void* lasting_allocate(size_t bytes) noexcept;

// The same for what is written once, before another thread or a child can find it. Forked children have the
// same memory, not a copy: a fork does not copy the entries of its pages, which are most of the runtime's.
void* immutable_allocate(size_t bytes) noexcept;

// Bytes handed out.
size_t lasting_bytes() noexcept;

}  // namespace hpcrun
