#pragma once
// Follows locks in a process for which this was requested (Config::locks): charges waits to the calling
// contexts that waited, and to those that held the lock (docs/locks.md). Connects repairs of locks with the
// library that interposes on them.

#include <cstddef>

#include "hpcrun/hooks.h"
#include "hpcrun/sync/interface.h"

namespace hpcrun {

extern const Hooks kSyncHooks;

// Has the library move locks, or stop moving them (nullptr); moved ones stay where they are. Not
// async-signal-safe.
void set_lock_repair(const LockRepair* repair) noexcept;

// Calls of the interposing library that work on locks directly, without a call that another library
// intercepts.
struct DirectLockCalls {
  // From forbid(true) to forbid(false) no such call may begin. nullptr: the library is not loaded.
  void (*forbid)(bool is_forbidden) noexcept = nullptr;
  // Offset from the thread pointer of a uint32_t: how many of them the thread is in.
  ptrdiff_t at = 0;
};

// Returns these calls. A library that registers later makes none.
DirectLockCalls take_direct_lock_calls() noexcept;

}  // namespace hpcrun
