#pragma once
// State shared by the two sources of this folder: isolating.cpp, which may run in handlers, and
// isolating_start.cpp, which does not.

#include <atomic>
#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

// The library's interface while pages may be isolated; otherwise nullptr.
extern constinit std::atomic<const Isolation*> isolation;

// The real-time signal that the library uses, or 0.
extern constinit int isolation_signal;

// The C library's code, whose data threads access by plain stores and atomic instructions that the library
// cannot see.
struct CodeRange {
  uint64_t low = 0;
  uint64_t high = 0;
  bool holds(uint64_t address) const noexcept { return address >= low && address < high; }
};
extern constinit CodeRange c_library;

// True if pages are isolated to count what threads write to them.
bool finds_written_lines() noexcept;

// Offers an allocation of the program to the library, or excludes one of the C library for itself; `caller`
// is the return address. Returns true if its pages are left common.
bool offer_allocation(const void* at, uint64_t bytes, uint64_t caller) noexcept;

// The functions of the hooks of the same names (hpcrun/hooks.h).
uint64_t request_signals() noexcept;
void stay_home() noexcept;
void rest_isolation(bool is_about_to_execute) noexcept;
void reset_isolation_after_fork() noexcept;

}  // namespace hpcrun
