#pragma once
// What libprof-heap.so, which has the program's calls of its allocator, and the runtime know of each
// other. The library exports one HeapHooks, hpcrun_heap_hooks; the runtime refers to it weakly and fills it
// in.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/heap/frequent_calls.h"
#include "hpcrun/heap/known_beginnings.h"
#include "hpcrun/heap/placement_filter.h"

namespace hpcrun {

// Where an allocation is to lie: a Placement (hpcrun/model/placement.h), and the number of its site.
struct PlaceAnswer {
  uint16_t align;  // 0: where the allocator puts it
  uint16_t offset;
  uint16_t pad;
  uint16_t site;  // 0: not known
};

enum class PlaceOutcome : uint8_t { NotAsked, Placed, Refused };

using PlaceHook = PlaceAnswer (*)(size_t bytes, size_t align, const void* frame) noexcept;

struct alignas(64) HeapHooks {
  FrequentCalls frequent;
  // Asked before an allocation that `placed_calls` may hold; made() then takes the place of allocated().
  // nullptr: nothing is placed, or nothing yet. FrequentCalls::hear_all() comes with it.
  alignas(64) std::atomic<PlaceHook> place;
  // An allocation was made, and nobody else knows of it yet. `align`: what the program asks its address to be
  // a multiple of, 1 where it does not. `frame`: the canonical frame address of the function that the program
  // called, below which its return address lies. nullptr: nobody wants to know. Keeps errno. None of these is
  // called in handlers of ours, and allocated() of none that `frequent` passes over.
  std::atomic<void (*)(void* at, size_t bytes, size_t align, const void* frame) noexcept> allocated;
  // What is there, and may be of `known`, is about to be released.
  std::atomic<void (*)(void* at) noexcept> released;
  alignas(64) KnownBeginnings known;
  // The same for memory that the program mapped itself, by mmap() and its kin.
  std::atomic<void (*)(void* at, size_t bytes, const void* frame) noexcept> mapped;
  std::atomic<void (*)(void* at) noexcept> unmapped;

  // It was made, or was refused where it was to be placed and is where the allocator put it. `padding`: how
  // many bytes it takes more than `bytes`.
  std::atomic<void (*)(void* at, size_t bytes, size_t padding, PlaceAnswer answer,
                       PlaceOutcome outcome) noexcept>
      made;
  PlacementFilter placed_calls;
  // Somebody may release allocations without the library's knowing: where these begin is the allocator's to
  // say from now on.
  std::atomic<bool> keeps_beginnings;
};

}  // namespace hpcrun
