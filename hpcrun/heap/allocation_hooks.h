#pragma once
// Hooks for allocations and releases: functions of repairs and counts, which set them before the heap's
// start() and reset them in a forked child. nullptr: none. Called in the program's own calls, outside
// handlers, by any thread.

#include <atomic>
#include <cstdint>

#include "hpcrun/heap/allocation_map.h"
#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/unwind/frame.h"

namespace hpcrun {

struct AllocationHooks {
  // Returns the entries of the repair plan for a calling context of the allocator, innermost frame first.
  PlanEntries (*planned)(const FrameKey* frames, uint32_t depth) noexcept = nullptr;
  // A site has its number from now on; `entries` are those of its context.
  void (*site)(SiteId site, const PlanEntries& entries) noexcept = nullptr;
  // An allocation was made; `caller` is the return address of the call. Returns true if nothing will change
  // where the allocation lies or who shares its page, so that it need not be counted.
  std::atomic<bool (*)(const void* at, uint64_t bytes, uint64_t caller) noexcept> made{nullptr};
  // An allocation that starts there is about to be released, and is known to the heap still.
  std::atomic<void (*)(uint64_t start) noexcept> released{nullptr};
};

extern constinit AllocationHooks allocation_hooks;

}  // namespace hpcrun
