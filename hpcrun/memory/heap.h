#pragma once
// The program's heap: which allocation an address lies in, where in the program it was made, and when it
// went. One for a process, where contention is looked for; it knows what libhpcrun-memory.so tells
// (heap_hooks.h) from then on, of threads that are measured.

#include <atomic>
#include <cstdint>

#include "hpcrun/memory/allocation_map.h"
#include "hpcrun/memory/allocation_sites.h"
#include "hpcrun/memory/frequent_calls.h"
#include "hpcrun/memory/mappings.h"
#include "hpcrun/memory/told_objects.h"

namespace hpcrun {

struct Heap {
  AllocationMap map;
  Mappings mappings;
  AllocationSites sites;
  ToldObjects told;
  std::atomic<FrequentCalls*> calls{nullptr};  // while the allocator's calls are followed
};

extern constinit Heap heap;

// Where contention is looked for: follows the calls of the allocator from now on, and notes in the file where
// these are not to be seen. Not async-signal-safe.
void start_heap() noexcept;

// The program has a second thread, or is about to make one: while contention is searched for, small
// allocations that it makes over and over are followed as well (frequent_calls.h). Async-signal-safe.
void begin_threads_of_heap() noexcept;

// At the start of a thread, by that thread. Async-signal-safe.
void begin_thread_of_heap() noexcept;

// Nobody follows them any more.
void finish_heap() noexcept;

// In a forked child, before it starts on its own.
void forget_heap() noexcept;

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
