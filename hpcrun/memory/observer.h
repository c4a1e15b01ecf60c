#pragma once
// What the runtime keeps of each thread where contention is looked for, and what samples and breakpoints do
// there: they feed the watch, and write down what it finds.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// As measuring begins in a process that was asked to look for contention (Config::contention). Not
// async-signal-safe.
void start_memory() noexcept;

// The process is about to have a second thread. Async-signal-safe.
void populate_memory() noexcept;

// The signals that breakpoints raise, bit n-1 for signal n; 0 when there are none.
uint64_t watch_signals() noexcept;

// Measuring has ended; no thread's part of the file is closed yet.
void finish_memory() noexcept;

// The thread's part of the file is about to be closed.
void end_memory_thread(ThreadState& thread) noexcept;

// In a forked child, before it starts on its own.
void forget_memory() noexcept;

}  // namespace hpcrun
