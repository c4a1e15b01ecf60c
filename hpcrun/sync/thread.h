#pragma once
// What the runtime keeps of each thread where locks are followed, and what it writes down of it.

#include "hpcrun/cct/lock_cells.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/sync/activity.h"
#include "hpcrun/unwind/known_stacks.h"

namespace hpcrun {

extern constinit Activities activities;

// Zeroed memory is a valid empty one but for the cells.
struct SyncThread {
  LockCells cells;
  KnownStacks stacks;
  NodeId nodes[KnownStacks::kEntries];
  Activity activity;
  LockCell* open;         // tells the file of the wait that the thread is in; nullptr: there is none
  const void* innermost;  // that wait, for whose address it is
};

// Made at the first call; nullptr when there is no memory. The thread is busy. Async-signal-safe, as is what
// follows.
SyncThread* sync_of(ThreadState& thread) noexcept;

// A sample of CPU time, in the handler: charges the node with what the idle threads could have done in these
// ns.
void observe_work(ThreadState& thread, NodeId node, uint64_t ns) noexcept;

}  // namespace hpcrun
