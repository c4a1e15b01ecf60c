#pragma once
// Decides whether locks may be moved to lines of their own (repair/locks), and at which lines, and records
// the results.

#include "hpcrun/sync/interface.h"

namespace hpcrun {

// Must be called as measuring begins, with the configuration known. Not async-signal-safe.
void start_lock_repair() noexcept;
void end_lock_repair() noexcept;

// Forbids moving locks permanently, also in forked children: a library may acquire locks without the
// interposed functions. Returns true if moving had begun.
bool forbid_lock_repair() noexcept;

// Returns nullptr if locks must stay where they are.
const LockRepair* lock_repair() noexcept;

}  // namespace hpcrun
