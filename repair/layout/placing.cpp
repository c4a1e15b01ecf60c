#include "repair/layout/placing.h"

#include <algorithm>

#include "hpcrun/contention/contended_lines.h"
#include "hpcrun/contention/observer.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/heap/allocations.h"
#include "hpcrun/heap/heap.h"
#include "repair/isolate/runtime/isolating.h"

namespace hpcrun {

constinit Placing placing;

namespace {

// Limits the bytes of one allocation: larger ones have more than locks in them.
constexpr uint64_t kMaxLockBytes = 4096;

// Returns the smallest size of the site. Rounded-up sizes range down to half of the power of two.
uint64_t least_bytes(const AllocationSite& site) noexcept {
  return site.varies ? site.bytes / 2 + 1 : site.bytes;
}

void ask_about(const AllocationSite& site) noexcept {
  HeapHooks* const hooks = placing.hooks.load(std::memory_order_acquire);
  if (!hooks) return;
  hooks->placed_calls.add_sizes(least_bytes(site), site.bytes);
  hooks->placed_calls.add_path(site.caller, site.outer);
  begin_to_place();
}

RepairRecord record_of(RepairKind kind, SiteId number, const Placement& placement) noexcept {
  const AllocationSite site = heap.sites.site(number);
  RepairRecord record{};
  record.time_ns = monotonic_ns();
  record.kind = kind;
  record.thread = site.thread;
  record.node = site.node;
  record.bytes = site.varies ? 0 : site.bytes;
  record.align = placement.align;
  record.offset = placement.offset;
  record.pad = placement.pad;
  return record;
}

// Records the first allocation for an entry of the plan.
void note_met(uint32_t entry, SiteId site, const Placement& placement) noexcept {
  const uint64_t bit = uint64_t{1} << entry % 64;
  if (placing.met[entry / 64].fetch_or(bit, std::memory_order_relaxed) & bit) return;
  process_state.file.counter(Counter::PlannedSites).fetch_add(1, std::memory_order_relaxed);
  RepairRecord record = record_of(RepairKind::PlannedSite, site, placement);
  record.plan_entry = entry + 1;
  process_state.file.write_repair(record);
}

bool is_open(uint32_t site) noexcept {
  return !placing.sites.is_decided(static_cast<SiteId>(site));
}

void settle(const SiteFinding& verdict) noexcept {
  const Config& config = process_state.config;
  const auto site = static_cast<SiteId>(verdict.site);
  const bool places = config.repairs_layout && verdict.chosen.placement != kAsAllocated;
  const SiteDecision decision{places ? verdict.chosen.placement : kAsAllocated,
                              config.repairs_locks && verdict.has_locks};
  if (!placing.sites.decide(site, decision)) return;
  if (decision != SiteDecision{}) ask_about(heap.sites.site(site));
  if (!config.repairs_layout) return;
  const RepairKind kind = places ? RepairKind::Placed : RepairKind::Declined;
  RepairRecord record = record_of(kind, site, decision.placement);
  record.conflicts = verdict.conflicts;
  record.remaining = verdict.chosen.conflicts;
  record.address = verdict.line;
  process_state.file.write_repair(record);
}

void share(uint64_t line) noexcept {
  if (process_state.config.repairs_locks) hpcrun_contended_lines.add(line);
}

uint64_t align_of(uint32_t site) noexcept {
  return heap.sites.site(static_cast<SiteId>(site)).align;
}

void isolate(const PageDecision& verdict) noexcept {
  const PageRequest page{verdict.page, verdict.is_allocation, verdict.share_ppm};
  if (!verdict.has_locks && !verdict.has_true_sharing) return isolate_page(page);
  leave_page(page, verdict.has_locks ? WhyShared::AtomicUse : WhyShared::TrueSharing);
}

}  // namespace

void add_contended(uint64_t begin, uint64_t bytes) noexcept {
  const uint64_t end = begin + std::min(bytes, kMaxLockBytes);
  for (uint64_t line = line_of(begin); line < end; line += kLineBytes)
    if (!hpcrun_contended_lines.add(line)) return;
}

void begin_to_place() noexcept {
  HeapHooks* const hooks = placing.hooks.load(std::memory_order_acquire);
  const PlaceHook answer = placing.answer.load(std::memory_order_acquire);
  if (!hooks || !answer) return;
  hooks->place.store(answer, std::memory_order_release);
  hooks->frequent.hear_all();
}

bool may_place() noexcept {
  const Config& config = process_state.config;
  return placing.has_plan || (config.contention && (config.repairs_layout || config.repairs_locks));
}

void announce_to_plan(const ModuleInfo& module) noexcept {
  if (!placing.has_plan || !placing.planned.announce({module.id, module.path, module.build_id,
                                                      module.build_id_bytes, module.load_bias}))
    return;
  placing.planned.for_each_entry([&](const PlanEntry& entry) {
    const uint64_t innermost = placing.planned.address_of(entry, 0);
    if (!innermost) return;
    if (entry.kind == PlanKind::GlobalLocks) return add_contended(innermost, entry.most_bytes);
    const uint64_t outer = entry.frame_count > 1 ? placing.planned.address_of(entry, 1) : 0;
    HeapHooks* const hooks = placing.hooks.load(std::memory_order_acquire);
    // The frame of a caller is one byte before the return address.
    if (hooks && (outer || entry.frame_count == 1))
      hooks->placed_calls.add_path(innermost + 1, outer ? outer + 1 : 0);
  });
}

PlanEntries planned_entries(const FrameKey* frames, uint32_t depth) noexcept {
  PlanEntries entries{};
  if (placing.has_plan) placing.planned.match(frames, depth, entries);
  return entries;
}

void decide_by_plan(SiteId number, const PlanEntries& entries) noexcept {
  if (!placing.has_plan || entries.is_empty() || placing.sites.is_decided(number)) return;
  const AllocationSite site = heap.sites.site(number);
  SiteDecision decision;
  bool is_named = false;
  for (uint32_t i = 0; i < placing.planned.plan().entry_count; ++i) {
    const PlanEntry& entry = placing.planned.plan().entries[i];
    if (!entries.holds(i) || entry.most_bytes < least_bytes(site) || entry.least_bytes > site.bytes) continue;
    if (entry.kind == PlanKind::Place) decision.placement = {entry.align, entry.offset, entry.pad};
    if (entry.kind == PlanKind::SiteLocks) decision.has_locks = true;
    is_named = true;
    note_met(i, number, entry.kind == PlanKind::Place ? decision.placement : kAsAllocated);
  }
  if (is_named) placing.sites.decide(number, decision);
}

void note_placed(ThreadState& thread) noexcept {
  AllocationContexts* const own = allocation_slot.of(thread);
  if (!own || !own->placed) return;
  process_state.file.counter(Counter::PlacedAllocations).fetch_add(own->placed, std::memory_order_relaxed);
  process_state.file.counter(Counter::PaddingBytes).fetch_add(own->padding, std::memory_order_relaxed);
  own->placed = own->padding = 0;
}

namespace {

void note_access(const SharedAccess& access) noexcept {
  if (FalseSharingDetector* const detector = placing.detector.load(std::memory_order_acquire))
    detector->note(access);
}

bool may_find_more() noexcept {
  const FalseSharingDetector* const detector = placing.detector.load(std::memory_order_acquire);
  return !detector || detector->is_promising();
}

// Pages that may be isolated are reported at every verdict, so nothing is final then.
bool has_found_all() noexcept {
  const FalseSharingDetector* const detector = placing.detector.load(std::memory_order_acquire);
  return detector && detector->has_placed_all() && !isolates_pages();
}

constexpr SharingUser kDetectorAsUser{note_access, may_find_more, has_found_all};

}  // namespace

void use_detector(FalseSharingDetector& detector) noexcept {
  detector.start({is_open, settle, share, align_of, isolates_pages() ? isolate : nullptr,
                  process_state.config.repairs_layout});
  placing.detector.store(&detector, std::memory_order_release);
  sharing_user.store(&kDetectorAsUser, std::memory_order_release);
}

void count_time(ThreadState& thread, const RecordedSample& sample) noexcept {
  if (!sample.is_cpu_time || thread.is_converted) return;
  if (FalseSharingDetector* const detector = placing.detector.load(std::memory_order_acquire))
    detector->note_time(sample.weight);
}

void reset_placing_after_fork() noexcept {
  sharing_user.store(nullptr, std::memory_order_relaxed);
  placing.detector.store(nullptr, std::memory_order_relaxed);
  placing.sites.reset_after_fork();
  placing.planned.clear_modules();
  for (std::atomic<uint64_t>& met : placing.met) met.store(0, std::memory_order_relaxed);
}

}  // namespace hpcrun
