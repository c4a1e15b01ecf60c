#pragma once
// Finds functions of libraries that belong to the program: OpenMP, MPI. If such a library was loaded
// privately (by a plugin or a Python module, with its dependencies), RTLD_NEXT finds no function, or another
// library's. The function is then looked up in the scope of the calling library.

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/interpose/next_function.h"

namespace hpcrun {

class ModuleFunction {
 public:
  constexpr explicit ModuleFunction(const char* name) : name_(name) {}

  // Returns the function for the call that returns to `caller`, or nullptr. May take the loader's lock at the
  // first call from an address.
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
  // An entry is claimed once, for a caller, and then gets its function.
  struct Known {
    std::atomic<uintptr_t> caller{0};
    std::atomic<void*> function{nullptr};
  };
  static constexpr unsigned kKnownBits = 5;

  [[gnu::noinline, gnu::cold]] void* look_up(const void* caller, Known& entry) noexcept {
    if (void* const next = find_next(name_)) {
      next_.store(next, std::memory_order_release);
      return next;
    }
    Dl_info library;
    if (!dladdr(caller, &library) || !library.dli_fname) return nullptr;
    // The library is loaded already: this only increments its reference count.
    void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = handle ? dlsym(handle, name_) : nullptr;
    if (!found) dlerror();
    if (handle) dlclose(handle);
    uintptr_t none = 0;
    if (found && entry.caller.compare_exchange_strong(none, reinterpret_cast<uintptr_t>(caller)))
      entry.function.store(found, std::memory_order_release);
    return found;
  }

  const char* name_;
  std::atomic<void*> next_{nullptr};
  Known known_[1u << kKnownBits];
};

}  // namespace hpcrun
