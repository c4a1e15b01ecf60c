#include "hpcrun/sync/thread.h"

namespace hpcrun {

constinit Activities activities;

SyncThread* sync_of(ThreadState& thread) noexcept {
  if (thread.sync) return thread.sync;
  auto* const made = static_cast<SyncThread*>(thread.arena.allocate(sizeof(SyncThread)));
  if (!made || !made->cells.attach(process_state.file, thread.arena, thread.index)) return nullptr;
  return thread.sync = made;
}

void observe_work(ThreadState& thread, NodeId node, uint64_t ns) noexcept {
  // What a thread does on its way into a wait is not work that others wait for.
  if (thread.sync && thread.sync->activity != Activity::Works) return;
  const auto [idle, working] = activities.count(process_state.thread_count.load(std::memory_order_relaxed));
  if (!idle) return;
  SyncThread* const sync = sync_of(thread);
  if (!sync) return;
  const LockSite site{0, thread.index, node, LockKind{}, LockRole::Idle};
  LockCell* cell = sync->cells.find(site);
  if (!cell) cell = sync->cells.make(site);
  if (!cell) return;
  const uint64_t of_all = ns * idle;
  LockCells::add(*cell, ns, of_all / working, of_all);
}

}  // namespace hpcrun
