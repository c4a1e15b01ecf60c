#pragma once
// Where the profiler's own memory lies in the address space of the program: what own_memory.h maps, and the
// mapped parts of the measurement file. Threads that run the profiler's code share it, which is nothing about
// the program. Lock-free and async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Remembers the range that begins at `at`. `is_in_child`: forked children have it as well. Ranges beyond
// 4096 at a time are not remembered.
void note_own_range(const void* at, size_t bytes, bool is_in_child) noexcept;

// Called before the memory is unmapped: whatever is mapped there next is the program's.
void forget_own_range(const void* at) noexcept;

// Called in a forked child, which has no copy of the other ranges, before it maps memory of its own.
void keep_own_ranges_of_child() noexcept;

bool is_in_own_range(uint64_t address) noexcept;

}  // namespace hpcrun
