#pragma once
// Repair of layout in the process that is measured: allocations of sites that the repair plan names, or that
// the run finds threads to contend for, are placed anew (hpcrun/model/placement.h) by libhpcrun-memory.so,
// and lines that are falsely shared are made known (contended_lines.h). What is decided is written down. One
// for a process; async-signal-safe unless said otherwise.

#include "hpcrun/memory/allocation_sites.h"
#include "hpcrun/memory/heap_hooks.h"
#include "hpcrun/memory/site_placements.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/modules.h"
#include "repair/layout/planned_sites.h"
#include "repair/layout/sharing_judge.h"

namespace hpcrun {

struct Placing {
  bool has_plan = false;
  PlannedSites planned;
  SitePlacements sites;
  std::atomic<HeapHooks*> hooks{nullptr};  // nullptr: nobody places
  std::atomic<PlaceHook> answer{nullptr};  // of the hook that places, where that may come to be
  std::atomic<SharingJudge*> judge{nullptr};
  std::atomic<uint64_t> met[kMostPlanEntries / 64] = {};  // entries that the program came to
};

extern constinit Placing placing;

// As measuring begins, before modules are announced: reads the plan of a process that has one
// (Config::has_repair_plan). Not async-signal-safe.
void start_placing() noexcept;

// That of libhpcrun-memory.so; nullptr: it was not loaded.
HeapHooks* find_heap_hooks() noexcept;

// Somebody came to the process who may release allocations behind libhpcrun-memory.so's back: from now on
// none is moved away from where the allocator's memory for it begins. True the first time that this changes
// something.
bool keep_beginnings() noexcept;

// From now on there is something to place: before, nobody asks at each allocation. Async-signal-safe.
void begin_to_place() noexcept;

// Whether allocations may be placed in this process.
bool may_place() noexcept;

// In a forked child, before it starts on its own.
void forget_placing() noexcept;

void announce_to_plan(const ModuleInfo& module) noexcept;

// The plan's entries for a context of the allocator, innermost frame first.
PlanEntries planned_entries(const FrameKey* frames, uint32_t depth) noexcept;

// A site, and the entries for its context.
void decide_by_plan(SiteId site, const PlanEntries& entries) noexcept;

// Adds to the file's counters what the thread placed since.
void tell_placed(ThreadState& thread) noexcept;

// Locks in an allocation are to be moved.
void add_contended(uint64_t begin, uint64_t bytes) noexcept;

// For the judge, where there is one.
JudgeHost judge_host() noexcept;
void judge_time(uint64_t weight_ns) noexcept;
void judge_access(const SharedAccess& access) noexcept;
// SharingJudge::is_promising(); true where nobody judges.
bool may_find_more() noexcept;
// SharingJudge::has_placed_all(), where nobody waits for more to be seen of lines that are known: pages that
// may be isolated are told of at every verdict.
bool has_found_all() noexcept;

}  // namespace hpcrun
