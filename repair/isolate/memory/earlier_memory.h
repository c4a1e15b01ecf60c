#pragma once
// Tells blocks of the program's own allocator from those of the second one (preload/second_allocator.h) by
// their address. Memory that was mapped at the change of allocators is "earlier", in pieces of kPieceBytes.
// Mappings that are made for an allocator later never lie in such a piece, even if the program has unmapped
// it by then.
//
// All calls are async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

constexpr uint64_t kPieceBytes = uint64_t{2} << 20;

// Maps readable and writable memory for the second allocator while the first one is in use: whole pieces in
// which nothing else lies, and which do not become earlier memory. Returns the address, or a negated errno.
long map_for_later(uint64_t bytes) noexcept;

// Makes all that is mapped now earlier memory, except the results of map_for_later() and [low, high), which
// is not in use yet. Must be called once, while no other thread of the program runs. Returns false, and
// changes nothing, if /proc cannot be read.
bool begin_earlier_memory(uint64_t low, uint64_t high) noexcept;

bool has_earlier_memory() noexcept;
bool is_earlier(const void* address) noexcept;
// True if a piece of the range is.
bool reaches_earlier(uint64_t low, uint64_t high) noexcept;

// Maps private anonymous memory as mmap() does, at an address of the kernel's choice, in pieces that are not
// earlier memory. Returns the address, or a negated errno.
long map_apart_from_earlier(uint64_t bytes, int protection, int flags) noexcept;

}  // namespace hpcrun
