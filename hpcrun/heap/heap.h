#pragma once
// Keeps the program's allocations: which one an address lies in, and where in the program it was made. One
// per process. It knows what libprof-heap.so reports (heap_hooks.h) of measured threads from start() on.

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

// Returns the number of the allocation that the address lies in, or of the memory that the program mapped
// there, as in AccessRecord::object; 0 if none is known. Writes it to the measurement file the first time.
// Async-signal-safe.
uint64_t object_at(uint64_t address) noexcept;

// Returns the same with the start and the site of an allocation; `site` is kNoSite for mapped memory.
struct DataLocation {
  uint64_t object = 0;
  uint64_t begin = 0;
  SiteId site = kNoSite;
};
DataLocation location_of(uint64_t address) noexcept;

// Records the end of a marked allocation that began there and was removed from the map. Async-signal-safe.
void end_object(uint64_t begin) noexcept;

}  // namespace hpcrun
