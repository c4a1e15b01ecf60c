#pragma once
// Allocations that are placed: asks the runtime where one is to lie, has the program's allocator make it
// there, and finds the way back from where it was moved.

#include <cstddef>
#include <cstdint>

#include "hpcrun/heap/preload/allocator.h"
#include "hpcrun/heap/preload/moved_objects.h"

namespace hpcrun {

extern constinit MovedObjects moved_objects;

// Is it worth a question where an allocation of this size should lie?
inline bool asks_to_place(size_t bytes, const void* frame) noexcept {
  return heap_hooks.place.load(std::memory_order_acquire) && heap_hooks.placed_calls.may_hold(bytes, frame);
}

// As the runtime wants it; `align`: what the program asks for, 1 where it does not. nullptr: where it wants
// nothing, or it cannot be had; errno is kept.
void* make_placed(size_t bytes, size_t align, const PlaceAnswer& answer, size_t& padding) noexcept;

PlaceAnswer ask(size_t bytes, size_t align, const void* frame) noexcept;

// Tells the runtime; `placed`: by make_placed().
void tell_made(void* at, size_t bytes, size_t padding, const PlaceAnswer& answer, bool placed) noexcept;

// An allocation that is worth a question; `plain` makes it as the program asked for, nullptr where that
// fails.
template <typename Plain>
[[gnu::noinline]] void* allocate(size_t bytes, size_t align, const void* frame, Plain plain) noexcept {
  const PlaceAnswer answer = ask(bytes, align, frame);
  size_t padding = 0;
  void* at = make_placed(bytes, align, answer, padding);
  const bool is_placed = at != nullptr;
  if (!is_placed) at = plain();
  if (at) tell_made(at, bytes, padding, answer, is_placed);
  return at;
}

// The same as calloc() makes it.
void* allocate_zeroed(size_t bytes, const void* frame) noexcept;

// The same of what was there before, and lies at `at` now, in memory of the allocator's.
void* replace(void* at, size_t bytes, const void* frame) noexcept;

// realloc() of an object that was moved.
void* reallocate_moved(void* before, size_t bytes, const void* frame) noexcept;

}  // namespace hpcrun
