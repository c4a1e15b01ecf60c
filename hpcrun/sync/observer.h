#pragma once
// Follows locks in a process for which this was requested (Config::locks): charges waits to the calling
// contexts that waited, and to those that held the lock (docs/locks.md). If locks are to be moved
// (Config::repairs_locks), makes the library that interposes on them do so.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Must be called as measuring begins. Not async-signal-safe.
void start_sync() noexcept;

// Stops moving locks, in this process and its forked children; moved ones stay where they are. Returns true
// if locks could have been moved otherwise.
bool forbid_moving_locks() noexcept;

// Records the holders of locks that threads wait for as the process ends. Async-signal-safe.
void tell_holders() noexcept;

// Must be called when measuring has ended, before any thread's part of the file is closed.
void finish_sync() noexcept;

// Must be called before the thread's part of the file is closed.
void end_sync_thread(ThreadState& thread) noexcept;

// Resets the state in a forked child, before it starts on its own.
void forget_sync() noexcept;

}  // namespace hpcrun
