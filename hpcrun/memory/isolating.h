#pragma once
// Isolation of pages in the process that is measured: what the judge finds is asked of libhpcrun-isolate.so
// (repair/isolate/interface.h), and what became of it is written down.

#include <atomic>

#include "repair/isolate/interface.h"
#include "repair/layout/sharing_judge.h"

namespace hpcrun {

extern constinit std::atomic<const Isolation*> isolation;  // nullptr: nothing is isolated

// As measuring begins. `signal` is ours and used by nobody else; 0: there is none. Writes down why where
// nothing can be isolated. Not async-signal-safe.
void start_isolating(int signal) noexcept;

// Whether that was asked for, and nothing is known that forbids it. Async-signal-safe.
bool isolates_pages() noexcept;

void ask_to_isolate(const PageVerdict& verdict) noexcept;

// Measuring ends.
void finish_isolating() noexcept;

// In a forked child, before it starts on its own.
void forget_isolating() noexcept;

}  // namespace hpcrun
