#pragma once
// How functions of an OpenMP runtime are found. Programs have it from their own libraries: where one of these
// was loaded for itself alone (a plugin with its libraries), the next function in the program's order is
// none, or another runtime's. Then it is looked for as the caller's library would find it.

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/sync/preload/call.h"

namespace hpcrun {

class RuntimeFunction {
 public:
  constexpr explicit RuntimeFunction(const char* name) : name_(name) {}

  // For the call that returns to `caller`; nullptr: there is none. May take the loader's lock at the first
  // call from a place.
  void* get(const void* caller) noexcept {
    if (void* const known = next_.load(std::memory_order_acquire)) [[likely]]
      return known;
    const auto site = reinterpret_cast<uintptr_t>(caller);
    Known& entry = known_[site * 0x9e3779b97f4a7c15u >> (64 - kKnownBits)];
    void* const function = entry.function.load(std::memory_order_acquire);
    if (function && entry.caller.load(std::memory_order_relaxed) == site) return function;
    return look_up(caller, entry);
  }

 private:
  // An entry is taken once, for a caller and then its function.
  struct Known {
    std::atomic<uintptr_t> caller{0};
    std::atomic<void*> function{nullptr};
  };
  static constexpr unsigned kKnownBits = 5;

  void* look_up(const void* caller, Known& entry) noexcept;

  const char* name_;
  std::atomic<void*> next_{nullptr};
  Known known_[1u << kKnownBits];
};

}  // namespace hpcrun
