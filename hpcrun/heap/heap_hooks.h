#pragma once
// Defines the interface between the runtime and libprof-heap.so, which interposes on the program's
// allocator. The library exports one HeapHooks, hpcrun_heap_hooks; the runtime refers to it weakly and sets
// its functions.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/heap/frequent_calls.h"
#include "hpcrun/heap/known_beginnings.h"
#include "hpcrun/heap/placement_filter.h"

namespace hpcrun {

// Says where an allocation must lie: a Placement (hpcrun/model/placement.h), and the number of its site.
struct PlaceAnswer {
  uint16_t align;  // 0: as the allocator places it
  uint16_t offset;
  uint16_t pad;
  uint16_t site;  // 0: not known
};

enum class PlaceOutcome : uint8_t { NotAsked, Placed, Refused };

using PlaceHook = PlaceAnswer (*)(size_t bytes, size_t align, const void* frame) noexcept;

struct alignas(64) HeapHooks {
  FrequentCalls frequent;
  // Called before an allocation that `placed_calls` may hold; made() is then called instead of allocated().
  // nullptr: nothing is placed, or nothing yet. Set together with FrequentCalls::hear_all().
  alignas(64) std::atomic<PlaceHook> place;
  // Called after an allocation was made, before another thread can know its address. `align` is the alignment
  // that the program requested, or 1. `frame` is the canonical frame address of the called function; its
  // return address lies below. nullptr: allocations are not followed. Must keep errno. None of these
  // functions is called in handlers of the runtime; allocated() is not called if `frequent` passes over the
  // call.
  std::atomic<void (*)(void* at, size_t bytes, size_t align, const void* frame) noexcept> allocated;
  // Called before the release of an allocation that `known` may hold.
  std::atomic<void (*)(void* at) noexcept> released;
  alignas(64) KnownBeginnings known;
  // The same for memory that the program mapped itself, by mmap() and similar calls.
  std::atomic<void (*)(void* at, size_t bytes, const void* frame) noexcept> mapped;
  std::atomic<void (*)(void* at) noexcept> unmapped;

  // Called after an allocation for which place() was asked, with what became of it. If placing was refused,
  // it lies where the allocator put it. `padding` is how many bytes it takes in addition to `bytes`.
  std::atomic<void (*)(void* at, size_t bytes, size_t padding, PlaceAnswer answer,
                       PlaceOutcome outcome) noexcept>
      made;
  PlacementFilter placed_calls;
  // Set if allocations may be released without the library's knowledge: from then on, all begin where the
  // allocator's memory for them begins.
  std::atomic<bool> keeps_beginnings;
};

}  // namespace hpcrun
