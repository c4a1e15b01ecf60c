#pragma once
// Follows the program's calls of its allocator, and assigns each allocation to a site. Called in these calls,
// outside handlers, by any thread.

#include <cstddef>
#include <cstdint>

#include "hpcrun/heap/allocation_contexts.h"
#include "hpcrun/heap/heap_hooks.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

// The runtime's data on each thread's allocations, from its first one on.
extern constinit ThreadSlot<AllocationContexts> allocation_slot;

// Returns the interface of libprof-heap.so, or nullptr if that was not loaded.
HeapHooks* find_heap_hooks() noexcept;

// Returns true if the heap has started, and the program's calls of malloc go through libprof-heap.so.
bool sees_allocations() noexcept;

// All: walks the stack for each unknown call. AtPace: only as often as WalkPace allows.
enum class Walks { All, AtPace };

// Returns the site of a call of the allocator, or kNoSite if it is not known. `frame` is the canonical frame
// address of the called function. The thread must not be busy.
SiteId site_of(ThreadState& thread, uint64_t bytes, size_t align, const void* frame,
               Walks walks = Walks::All) noexcept;

// Adds an allocation of a known site to the heap, if allocations are followed.
void note_allocation(uint64_t begin, uint64_t bytes, SiteId site) noexcept;

}  // namespace hpcrun
