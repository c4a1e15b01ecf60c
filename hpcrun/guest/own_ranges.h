#pragma once
// Records which address ranges of the program are the profiler's own memory: what own_memory.h maps, and the
// mapped parts of the measurement file. Threads that run the profiler's code share it, which says nothing
// about the program. Lock-free and async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Records the range that starts at `at`. `is_in_child`: forked children have it as well. Of more than 4096
// ranges at a time, the rest is not recorded.
void note_own_range(const void* at, size_t bytes, bool is_in_child) noexcept;

// Must be called before the memory is unmapped: the next mapping there is the program's.
void remove_own_range(const void* at) noexcept;

// Must be called in a forked child, which has no copy of the other ranges, before it maps memory of its own.
void keep_own_ranges_of_child() noexcept;

[[nodiscard]] bool is_in_own_range(uint64_t address) noexcept;

}  // namespace hpcrun
