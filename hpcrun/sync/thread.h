#pragma once
// Holds the state of each thread if locks are followed, and records its samples.

#include "hpcrun/cct/lock_cells.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/sync/activity.h"
#include "hpcrun/unwind/known_stacks.h"

namespace hpcrun {

extern constinit Activities activities;

// Zeroed memory is a valid empty state, except for `cells`.
struct SyncThread {
  LockCells cells;
  KnownStacks stacks;
  NodeId nodes[KnownStacks::kEntries];
  Activity activity;
  LockCell* open;         // records the wait that the thread is in; nullptr: none
  const void* innermost;  // address of that LockWait
};

extern constinit ThreadSlot<SyncThread> sync_slot;

// Returns the thread's state, created at the first call, or nullptr if there is no memory. The thread must be
// busy. Async-signal-safe, as is the next function.
SyncThread* sync_of(ThreadState& thread) noexcept;

// Handles a sample (Hooks::sample). One of CPU time charges its node with what idle threads could have done
// meanwhile.
void observe_work(ThreadState& thread, const RecordedSample& sample) noexcept;

}  // namespace hpcrun
