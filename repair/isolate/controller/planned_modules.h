#pragma once
// The modules whose atomic instructions converted threads have patched (atomic_sites.h): all that are loaded,
// but those whose atomic operations work on nothing that is isolated. For the controller's thread alone.

#include <cstdint>

namespace hpcrun {

// Whether libraries were loaded or unloaded since know_atomic_sites(): their data are no common memory yet.
bool modules_have_changed() noexcept;

// True if code of so many bytes can be planned, which takes up to 60 ms per MiB, in a program that has used
// so much CPU time: planning takes no more than a third of both together, or a second. The program may stand
// still meanwhile, as we have the loader's lock.
constexpr bool is_worth_planning(uint64_t code_bytes, uint64_t cpu_ns) noexcept {
  constexpr uint64_t kNsPerKiB = 60'000, kAnywayNs = 1'000'000'000, kLeastTimes = 2;
  const uint64_t takes_ns = code_bytes / 1'024 * kNsPerKiB;
  return takes_ns <= kAnywayNs || kLeastTimes * takes_ns <= cpu_ns;
}

// Returns is_worth_planning() of all modules that are loaded now; true if they are known already.
bool is_planning_due(uint64_t cpu_ns) noexcept;

// Brings them up to date with what is loaded now; all threads are at home meanwhile where that has changed.
// False: there is a module for which that cannot be, and nothing may be isolated.
bool know_atomic_sites() noexcept;

// Whether the code is C++'s library's. From any thread, async-signal-safe.
bool is_of_cxx_library(uint64_t code) noexcept;

// Whether all code of the program says where it works atomically (annotated.h), since know_atomic_sites().
bool are_modules_annotated() noexcept;

// One clause, or nullptr.
const char* why_atomic_sites_are_unknown() noexcept;

}  // namespace hpcrun
