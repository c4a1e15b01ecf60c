#pragma once
// What the runtime does where a process was asked to follow locks (Config::locks): it charges waiting to the
// calling contexts that waited, and to those that kept the lock (docs/locks.md). Where locks are to be moved
// (Config::repairs_locks), it has the library in front of them do so.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// As measuring begins. Not async-signal-safe.
void start_sync() noexcept;

// No more locks are moved, in this process and those that are forked from it; those that were stay where they
// are. True where some would have been.
bool forbid_moving_locks() noexcept;

// Notes who holds the locks for which threads wait as the process ends. Async-signal-safe.
void tell_holders() noexcept;

// Measuring has ended; no thread's part of the file is closed yet.
void finish_sync() noexcept;

// The thread's part of the file is about to be closed.
void end_sync_thread(ThreadState& thread) noexcept;

// In a forked child, before it starts on its own.
void forget_sync() noexcept;

}  // namespace hpcrun
