#include "hpcrun/sync/repair.h"

#include "hpcrun/guest/clock.h"
#include "hpcrun/memory/contended_lines.h"
#include "hpcrun/memory/heap.h"
#include "hpcrun/memory/isolating.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

namespace {

// Each move has a record in the file up to this number; further ones are only counted.
constexpr uint64_t kMostTold = 1000;

std::atomic<bool> is_moving{false};
std::atomic<bool> is_forbidden{false};

void count(Counter counter) noexcept {
  process_state.file.counter(counter).fetch_add(1, std::memory_order_relaxed);
}

// Finds the site of the allocation that contains the address, if it is known.
bool find_site(uint64_t address, AllocationSite& out) noexcept {
  FoundAllocation found;
  if (!process_state.memory_observer.load(std::memory_order_acquire) || !heap.map.find(address, found))
    return false;
  out = heap.sites.site(found.site);
  return address < found.begin + out.bytes;
}

void moved(const void* lock) noexcept {
  if (!is_sampling_this_copy()) return;
  const uint64_t before =
      process_state.file.counter(Counter::LocksMoved).fetch_add(1, std::memory_order_relaxed);
  if (before >= kMostTold) return;
  RepairRecord record{};
  record.time_ns = monotonic_ns();
  record.kind = RepairKind::LocksMoved;
  record.address = reinterpret_cast<uint64_t>(lock);
  AllocationSite site;
  if (find_site(record.address, site)) {
    record.thread = site.thread;
    record.node = site.node;
    record.bytes = site.varies ? 0 : site.bytes;
  }
  process_state.file.write_repair(record);
}

void declined(LockDeclined reason) noexcept {
  if (!is_sampling_this_copy()) return;
  switch (reason) {
    case LockDeclined::Robust:
      return count(Counter::LocksDeclinedRobust);
    case LockDeclined::Priority:
      return count(Counter::LocksDeclinedPriority);
    case LockDeclined::Shared:
      return count(Counter::LocksDeclinedShared);
    case LockDeclined::Elided:
      return count(Counter::LocksDeclinedElided);
    case LockDeclined::Spin:
      return count(Counter::LocksDeclinedSpin);
    case LockDeclined::NoMemory:
      return count(Counter::LocksDeclinedNoMemory);
  }
}

constexpr LockRepair kRepair{&hpcrun_contended_lines, moved, declined, is_common_memory};

}  // namespace

void start_lock_repair() noexcept {
  const Config& config = process_state.config;
  if (is_forbidden.load() || (!config.repairs_locks && !config.has_repair_plan)) return;
  mark_process();
  is_moving.store(true, std::memory_order_release);
}

void end_lock_repair() noexcept {
  is_moving.store(false);
}

bool forbid_lock_repair() noexcept {
  is_forbidden.store(true);
  return is_moving.exchange(false);
}

const LockRepair* lock_repair() noexcept {
  return is_moving.load(std::memory_order_acquire) ? &kRepair : nullptr;
}

}  // namespace hpcrun
