#pragma once
// Where memory was mapped as the program's allocator gave way to another one (preload/second_allocator.h), in
// pieces of kPieceBytes: a block there is of the first one, and any other of the second, since what is mapped
// later for allocators lies in no such piece, though the program may have given that back by then.
//
// All calls are async-signal-safe unless they say otherwise.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

constexpr uint64_t kPieceBytes = uint64_t{2} << 20;

// For the second allocator while the first one is in use: memory, readable and writable, of whole pieces in
// which nothing else lies, and which is not earlier. A negated errno where there is none.
long map_for_later(uint64_t bytes) noexcept;

// Once, while no other thread of the program runs: all that is mapped now is earlier, but what
// map_for_later() has mapped, and [low, high), which nobody uses yet. False: /proc cannot be read, and
// nothing is.
bool begin_earlier_memory(uint64_t low, uint64_t high) noexcept;

bool has_earlier_memory() noexcept;
bool is_earlier(const void* address) noexcept;
// Whether some piece of the range is.
bool reaches_earlier(uint64_t low, uint64_t high) noexcept;

// As mmap() of private memory that belongs to no file does it, at an address of the kernel's choice, in
// pieces none of which is earlier. A negated errno where there is none.
long map_apart_from_earlier(uint64_t bytes, int protection, int flags) noexcept;

}  // namespace hpcrun
