// Starts and ends heap layout repair with measuring.

#include <fcntl.h>
#include <stdio.h>

#include "hpcrun/guest/private_mapping.h"
#include "hpcrun/heap/allocation_hooks.h"
#include "hpcrun/heap/allocations.h"
#include "hpcrun/heap/heap.h"
#include "repair/isolate/runtime/isolating.h"
#include "repair/layout/placing.h"

namespace hpcrun {

namespace {

constexpr char kNoPlan[] =
    "Nothing was repaired by the plan: repair.plan in the measurement directory is missing or damaged; use "
    "prof run --repair again.";

// The largest possible plan.
constexpr size_t kMaxPlanFile = sizeof(PlanHeader) +
                                kMaxPlanEntries * (sizeof(PlanEntry) + kMaxPlanFrames * sizeof(PlanFrame)) +
                                kMaxPlanModules * sizeof(PlanModule);

// Maps the plan, which stays mapped in forked children as well.
bool map_plan() noexcept {
  static char path[kMaxDirectory + sizeof kRepairPlanFile + 1];
  snprintf(path, sizeof path, "%s/%s", process_state.config.directory, kRepairPlanFile);
  const long file = raw_syscall(SYS_open, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  const long bytes = raw_syscall(SYS_lseek, file, 0, SEEK_END);
  const bool is_possible = bytes > 0 && static_cast<size_t>(bytes) <= kMaxPlanFile;
  void* const data = is_possible ? sys_mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_PRIVATE,
                                            static_cast<int>(file), 0)
                                 : MAP_FAILED;
  raw_syscall(SYS_close, file);
  if (data == MAP_FAILED) return false;
  if (placing.planned.start(data, static_cast<size_t>(bytes))) return true;
  sys_munmap(data, static_cast<size_t>(bytes));
  return false;
}

void add_planned_sizes(PlacementFilter& filter) noexcept {
  const PlanView& plan = placing.planned.plan();
  for (uint32_t i = 0; i < plan.entry_count; ++i)
    if (plan.entries[i].kind != PlanKind::GlobalLocks)
      filter.add_sizes(plan.entries[i].least_bytes, plan.entries[i].most_bytes);
}

uint64_t repairs_of(const Config& config) noexcept {
  return (config.repairs_layout ? kRepairsLayout : 0) | (config.repairs_locks ? kRepairsLocks : 0) |
         (config.has_repair_plan ? kRepairsByPlan : 0) | (config.repairs_isolate ? kRepairsIsolate : 0);
}

constexpr char kBeginningsKept[] =
    "A library was loaded with RTLD_DEEPBIND: from then on, allocations with an offset within a cache line "
    "were not re-laid out.";

Kind layout_kind;

void start_detector() noexcept {
  const Config& config = process_state.config;
  if (!config.contention || !(config.repairs_layout || config.repairs_locks || isolates_pages())) return;
  auto* const detector = map_private<FalseSharingDetector>(1);
  if (!detector) return;
  use_detector(*detector);
  switch_on(layout_kind);
}

// Reads the plan before modules are announced, and allocations are found whose sites it names.
void prepare() noexcept {
  const Config& config = process_state.config;
  process_state.file.counter(Counter::Repairs).store(repairs_of(config), std::memory_order_relaxed);
  if (config.has_repair_plan && !placing.has_plan) placing.has_plan = map_plan();
  if (config.has_repair_plan && !placing.has_plan) process_state.file.write_note(kNoPlan);
  if (placing.has_plan) {
    allocation_hooks.planned = planned_entries;
    allocation_hooks.site = decide_by_plan;
  }
  if (may_place()) {
    request_placing();
    HeapHooks* const hooks = find_heap_hooks();
    if (hooks && placing.has_plan) add_planned_sizes(hooks->placed_calls);
    placing.hooks.store(hooks, std::memory_order_release);
  }
  start_detector();
}

void start() noexcept {
  HeapHooks* const hooks = placing.hooks.load(std::memory_order_relaxed);
  if (!hooks || !sees_allocations() || !placing.sites.start()) return;
  hooks->made.store(made, std::memory_order_relaxed);
  placing.answer.store(place, std::memory_order_release);
  if (placing.has_plan) begin_to_place();
}

void finish() noexcept {
  switch_off(layout_kind);
  placing.answer.store(nullptr, std::memory_order_relaxed);
  HeapHooks* const hooks = placing.hooks.load(std::memory_order_relaxed);
  if (!hooks) return;
  hooks->place.store(nullptr, std::memory_order_relaxed);
  hooks->made.store(nullptr, std::memory_order_relaxed);
}

void reset_after_fork() noexcept {
  finish();
  reset_placing_after_fork();
}

// Such a library may release allocations without libprof-heap.so, so none may begin elsewhere than the
// memory that the allocator returned for it.
const char* keep_beginnings() noexcept {
  HeapHooks* const hooks = find_heap_hooks();
  const bool is_new = hooks && !hooks->keeps_beginnings.exchange(true, std::memory_order_relaxed);
  return is_new && hooks->made.load(std::memory_order_relaxed) ? kBeginningsKept : nullptr;
}

}  // namespace

constexpr Hooks kLayoutHooks{.kind = &layout_kind,
                             .prepare = prepare,
                             .start = start,
                             .finish = finish,
                             .fork_child = reset_after_fork,
                             .module = announce_to_plan,
                             .thread_end = note_placed,
                             .interposition_bypassed = keep_beginnings,
                             .sample = count_time};

}  // namespace hpcrun
