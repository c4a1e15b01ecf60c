#pragma once
// Placed allocations: asks the runtime for the placement, has the program's allocator make the allocation,
// and finds the allocator's own address of one that was moved.

#include <cstddef>
#include <cstdint>

#include "hpcrun/heap/preload/allocator.h"
#include "hpcrun/heap/preload/moved_objects.h"

namespace hpcrun {

extern constinit MovedObjects moved_objects;

// True if the runtime may have a placement for an allocation of this size.
inline bool may_be_placed(size_t bytes, const void* frame) noexcept {
  return heap_hooks.place.load(std::memory_order_acquire) && heap_hooks.placed_calls.may_hold(bytes, frame);
}

// Allocates as the runtime requested. `align`: the alignment that the program requested, or 1. Returns
// nullptr and keeps errno if the runtime requested nothing, or if the memory is not available.
void* make_placed(size_t bytes, size_t align, const PlaceAnswer& answer, size_t& padding) noexcept;

PlaceAnswer ask(size_t bytes, size_t align, const void* frame) noexcept;

// Reports to the runtime. `placed`: whether make_placed() made the allocation.
void report_made(void* at, size_t bytes, size_t padding, const PlaceAnswer& answer, bool placed) noexcept;

// Makes an allocation for which the runtime is asked. `plain` makes it as the program requested, and returns
// nullptr if that fails.
template <typename Plain>
[[gnu::noinline]] void* allocate(size_t bytes, size_t align, const void* frame, Plain plain) noexcept {
  const PlaceAnswer answer = ask(bytes, align, frame);
  size_t padding = 0;
  void* at = make_placed(bytes, align, answer, padding);
  const bool is_placed = at != nullptr;
  if (!is_placed) at = plain();
  if (at) report_made(at, bytes, padding, answer, is_placed);
  return at;
}

// Does the same for calloc().
void* allocate_zeroed(size_t bytes, const void* frame) noexcept;

// Does the same for a reallocated object, which now is at `at` in the allocator's memory.
void* replace(void* at, size_t bytes, const void* frame) noexcept;

// Implements realloc() of an object that was moved.
void* reallocate_moved(void* before, size_t bytes, const void* frame) noexcept;

}  // namespace hpcrun
