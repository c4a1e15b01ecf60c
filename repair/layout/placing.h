#pragma once
// Repairs the heap layout of the measured process. Allocations of sites that the repair plan names, or that
// threads are found to contend for, are placed (hpcrun/model/placement.h) by libprof-heap.so. Falsely
// shared lines are added to hpcrun_contended_lines. Each decision is written down. One per process.
// Async-signal-safe unless stated otherwise.

#include "hpcrun/heap/allocation_sites.h"
#include "hpcrun/heap/heap_hooks.h"
#include "hpcrun/hooks.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/modules.h"
#include "repair/layout/false_sharing_detector.h"
#include "repair/layout/planned_sites.h"
#include "repair/layout/site_placements.h"

namespace hpcrun {

struct Placing {
  bool has_plan = false;
  PlannedSites planned;
  SitePlacements sites;
  std::atomic<HeapHooks*> hooks{nullptr};  // nullptr: nothing is placed
  std::atomic<PlaceHook> answer{nullptr};  // the function for HeapHooks::place, once placing is possible
  std::atomic<FalseSharingDetector*> detector{nullptr};
  std::atomic<uint64_t> met[kMaxPlanEntries / 64] = {};  // bits of entries that an allocation matched
};

extern constinit Placing placing;

extern const Hooks kLayoutHooks;

// True if allocations may be placed in this process.
bool may_place() noexcept;

// From now on something is placed: libprof-heap.so asks at each allocation that may be concerned.
void begin_to_place() noexcept;

// Places allocations, and follows those that were placed (PlaceHook, HeapHooks::made). Not async-signal-safe.
PlaceAnswer place(size_t bytes, size_t align, const void* frame) noexcept;
void made(void* at, size_t bytes, size_t padding, PlaceAnswer answer, PlaceOutcome outcome) noexcept;

// Returns the plan's entries for a context of the allocator, innermost frame first.
PlanEntries planned_entries(const FrameKey* frames, uint32_t depth) noexcept;

// Decides a site by the plan. `entries` are those for its context.
void decide_by_plan(SiteId site, const PlanEntries& entries) noexcept;

// Applies the plan to a module that was loaded.
void announce_to_plan(const ModuleInfo& module) noexcept;

// Has locks in this memory moved to lines of their own.
void add_contended(uint64_t begin, uint64_t bytes) noexcept;

// Adds to the file's counters what the thread placed since the last call.
void note_placed(ThreadState& thread) noexcept;

// Starts a detector of false sharing, whose findings are placed, moved or isolated.
void use_detector(FalseSharingDetector& detector) noexcept;

// Counts the CPU time of each sample for the detector (Hooks::sample).
void count_time(ThreadState& thread, const RecordedSample& sample) noexcept;

// Resets all of this in a forked child.
void reset_placing_after_fork() noexcept;

}  // namespace hpcrun
