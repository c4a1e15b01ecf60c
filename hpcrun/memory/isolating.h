#pragma once
// Isolation of pages in the process that is measured: what the judge finds is asked of libhpcrun-isolate.so
// (repair/isolate/contract/interface.h), and what became of it is written down. Or pages are isolated to see what
// threads write to them, where contention is looked for in this way (counted_writes.h).

#include <atomic>

#include "repair/isolate/contract/interface.h"
#include "repair/layout/sharing_judge.h"

namespace hpcrun {

extern constinit std::atomic<const Isolation*> isolation;  // nullptr: nothing is isolated

// Code whose data other threads work on by plain stores and atomic instructions that nobody sees.
struct CodeRange {
  uint64_t low = 0;
  uint64_t high = 0;
  bool holds(uint64_t address) const noexcept { return address >= low && address < high; }
};
extern constinit CodeRange c_library;

// Before start_isolating(); false: that was. Sessions are told of, in whatever thread (interface.h).
bool hear_of_sessions(const DirectLocks& calls) noexcept;

// As measuring begins. `signal` is ours and used by nobody else; 0: there is none. Writes down why where
// nothing can be isolated. Not async-signal-safe.
void start_isolating(int signal) noexcept;

// Whether that was asked for, and nothing is known that forbids it. Async-signal-safe.
bool isolates_pages() noexcept;

// Whether they are, to see what threads write to them. Async-signal-safe.
bool finds_written_lines() noexcept;

// The program, or the C library for itself, allocated something: `caller` is where it returns to.
// True: its pages are left as they are. Async-signal-safe.
bool tell_isolation(const void* at, uint64_t bytes, uint64_t caller) noexcept;

void ask_to_isolate(const PageVerdict& verdict) noexcept;

// Writes down how much was isolated until now, and what was found by that. Async-signal-safe.
void note_isolation() noexcept;

// The calling thread ends, or measuring does: it is no process of its own any more.
void stay_at_home() noexcept;

// Whether memory that the kernel calls shared is this process's alone. Async-signal-safe.
bool is_common_memory(const void* at) noexcept;

// Around the execution of another program, in the process that does so.
void rest_isolation(bool is_about_to_execute) noexcept;

// Measuring ends.
void finish_isolating() noexcept;

// In a forked child, before it starts on its own.
void forget_isolating() noexcept;

}  // namespace hpcrun
