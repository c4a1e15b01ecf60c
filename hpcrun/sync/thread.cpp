#include "hpcrun/sync/thread.h"

#include <cassert>

namespace hpcrun {

constinit Activities activities;
constinit ThreadSlot<SyncThread> sync_slot;

SyncThread* sync_of(ThreadState& thread) noexcept {
  assert(thread.busy);
  if (SyncThread* const known = sync_slot.of(thread)) return known;
  auto* const made = static_cast<SyncThread*>(thread.arena.allocate(sizeof(SyncThread)));
  if (!made || !made->cells.attach(process_state.file, thread.arena, thread.index)) return nullptr;
  sync_slot.set(thread, made);
  return made;
}

void observe_work(ThreadState& thread, const RecordedSample& sample) noexcept {
  if (!sample.is_cpu_time) return;
  // Work of a thread on its way into a wait is not work that other threads wait for.
  const SyncThread* const known = sync_slot.of(thread);
  if (known && known->activity != Activity::Works) return;
  const auto [idle, working] = activities.count(process_state.thread_count.load(std::memory_order_relaxed));
  if (!idle) return;
  SyncThread* const sync = sync_of(thread);
  if (!sync) return;
  const LockSite site{0, thread.index, sample.node, LockKind{}, LockRole::Idle};
  LockCell* cell = sync->cells.find(site);
  if (!cell) cell = sync->cells.make(site);
  if (!cell) return;
  const uint64_t of_all = sample.weight * idle;
  LockCells::add(*cell, sample.weight, of_all / working, of_all);
}

}  // namespace hpcrun
