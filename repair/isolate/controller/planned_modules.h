#pragma once
// The modules whose atomic instructions are patched in converted threads (atomic_sites.h): all loaded
// modules, except those whose atomic operations access nothing that is isolated. For the controller's thread
// alone.

#include <cstdint>

namespace hpcrun {

// True if libraries were loaded or unloaded since know_atomic_sites(); the data of new ones is not common
// memory yet.
bool modules_have_changed() noexcept;

// True if planning `code_bytes` of code, which takes up to 60 ms per MiB, is acceptable in a program that has
// used `cpu_ns` of CPU time. Planning takes at most a third of both together, or a second. The program may
// stop meanwhile, because we hold the loader's lock.
constexpr bool is_worth_planning(uint64_t code_bytes, uint64_t cpu_ns) noexcept {
  constexpr uint64_t kNsPerKiB = 60'000, kAnywayNs = 1'000'000'000, kMinTimes = 2;
  const uint64_t takes_ns = code_bytes / 1'024 * kNsPerKiB;
  return takes_ns <= kAnywayNs || kMinTimes * takes_ns <= cpu_ns;
}

// Returns is_worth_planning() for all modules that are loaded now, or true if they are known already.
bool is_planning_due(uint64_t cpu_ns) noexcept;

// Updates the plans for the modules that are loaded now. If these have changed, all threads are at home
// meanwhile. Returns false if planning fails for a module; nothing may be isolated then.
bool know_atomic_sites() noexcept;

// True if the code belongs to the C++ library. From any thread, async-signal-safe.
bool is_of_cxx_library(uint64_t code) noexcept;

// True if all code of the program was annotated (annotated.h) at the latest know_atomic_sites().
bool are_modules_annotated() noexcept;

// Returns the reason as one clause, or nullptr.
const char* reason_atomic_sites_are_unknown() noexcept;

}  // namespace hpcrun
