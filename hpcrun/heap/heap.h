#pragma once
// The program's heap: which allocation an address lies in, where in the program it was made, and when it
// went. One for a process, where contention is looked for; it knows what libprof-heap.so tells
// (heap_hooks.h) from then on, of threads that are measured.

#include <atomic>
#include <cstdint>

#include "hpcrun/heap/allocation_map.h"
#include "hpcrun/heap/allocation_sites.h"
#include "hpcrun/heap/frequent_calls.h"
#include "hpcrun/heap/mappings.h"
#include "hpcrun/heap/recorded_objects.h"
#include "hpcrun/hooks.h"

namespace hpcrun {

struct Heap {
  AllocationMap map;
  Mappings mappings;
  AllocationSites sites;
  RecordedObjects recorded;
  std::atomic<FrequentCalls*> calls{nullptr};  // while the allocator's calls are followed
  std::atomic<bool> is_followed{false};        // requested (follow_allocations())
  std::atomic<bool> is_placed{false};          // requested (request_placing())
};

extern constinit Heap heap;

extern const Hooks kHeapHooks;

// Request, before the heap's start(), that allocations be followed, or that they may be placed elsewhere.
// Valid until finish() or a fork. Async-signal-safe.
inline void follow_allocations() noexcept {
  heap.is_followed.store(true, std::memory_order_relaxed);
}
inline void request_placing() noexcept {
  heap.is_placed.store(true, std::memory_order_relaxed);
}

// The allocation that the address lies in, or else the memory that the program mapped there, as
// AccessRecord::object has it: 0 for none that is known. The measurement file is told of it the first time.
// Async-signal-safe.
uint64_t object_at(uint64_t address) noexcept;

// The same with what else is known of it; `site` is kNoSite where the memory was mapped.
struct DataPlace {
  uint64_t object = 0;
  uint64_t begin = 0;
  SiteId site = kNoSite;
};
DataPlace place_of(uint64_t address) noexcept;

// The allocation that begins there is gone from the map, in which it was marked. Async-signal-safe.
void end_object(uint64_t begin) noexcept;

}  // namespace hpcrun
