#pragma once
// What the runtime has to do with locks that get lines of their own (repair/locks): it says whether and at
// which lines, and writes down what became of them.

#include "hpcrun/sync/interface.h"

namespace hpcrun {

// As measuring begins; the configuration is known. Not async-signal-safe.
void start_lock_repair() noexcept;
void end_lock_repair() noexcept;

// For good, and in forked children: a library may take locks behind the back of the one in front of them.
// True where it had begun.
bool forbid_lock_repair() noexcept;

// nullptr: locks are to stay where they are.
const LockRepair* lock_repair() noexcept;

}  // namespace hpcrun
