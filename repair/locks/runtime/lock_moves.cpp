#include "repair/locks/runtime/lock_moves.h"

#include "hpcrun/contention/contended_lines.h"
#include "hpcrun/contention/observer.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/heap/heap.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/sync/interface.h"
#include "hpcrun/sync/observer.h"
#include "repair/isolate/runtime/isolating.h"

namespace hpcrun {

namespace {

// Each move has a record in the file up to this number; further ones are only counted.
constexpr uint64_t kMaxRecorded = 1000;

std::atomic<bool> is_forbidden{false};

void count(Counter counter) noexcept {
  process_state.file.counter(counter).fetch_add(1, std::memory_order_relaxed);
}

// Finds the site of the allocation that contains the address, if it is known.
bool find_site(uint64_t address, AllocationSite& out) noexcept {
  FoundAllocation found;
  if (!searches_contention() || !heap.map.find(address, found)) return false;
  out = heap.sites.site(found.site);
  return address < found.begin + out.bytes;
}

void moved(const void* lock) noexcept {
  if (!is_sampling_this_copy()) return;
  const uint64_t before =
      process_state.file.counter(Counter::LocksMoved).fetch_add(1, std::memory_order_relaxed);
  if (before >= kMaxRecorded) return;
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

constexpr char kNoLockMoved[] = "A library was loaded with RTLD_DEEPBIND: from then on, no lock was moved.";

Kind lock_moves_kind;
std::atomic<bool> is_moving{false};

void start() noexcept {
  const Config& config = process_state.config;
  if (is_forbidden.load() || (!config.repairs_locks && !config.has_repair_plan)) return;
  mark_process();
  is_moving.store(true);
  set_lock_repair(&kRepair);
}

void stop() noexcept {
  if (is_moving.exchange(false)) set_lock_repair(nullptr);
}

// Such a library may acquire locks without the interposed functions. Holds for forked children as well; locks
// that were moved stay where they are.
const char* forbid() noexcept {
  is_forbidden.store(true);
  const bool was_moving = is_moving.load();
  stop();
  return was_moving ? kNoLockMoved : nullptr;
}

}  // namespace

constexpr Hooks kLockMoveHooks{.kind = &lock_moves_kind,
                               .start = start,
                               .finish = stop,
                               .fork_child = stop,
                               .interposition_bypassed = forbid};

}  // namespace hpcrun
