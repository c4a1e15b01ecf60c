#pragma once
// Finds the next definition of a function, for our libraries between programs and the C library other than
// the runtime. Async-signal-safe once the library is loaded.

#include <dlfcn.h>

#include <atomic>

namespace hpcrun {

// The function that ours interposes on. It is looked up when the library is loaded, or at an earlier call.
struct Behind {
  const char* name;
  std::atomic<void*> function{nullptr};

  void* get() noexcept {
    void* const known = function.load(std::memory_order_relaxed);
    if (known) [[likely]]
      return known;
    return look_up();
  }

  [[gnu::noinline, gnu::cold]] void* look_up() noexcept {
    void* const found = dlsym(RTLD_NEXT, name);
    if (!found) dlerror();  // the program must not see our error
    function.store(found, std::memory_order_relaxed);
    return found;
  }
};

}  // namespace hpcrun

// HPCRUN_BEHIND(name) is the C library's function.
#define HPCRUN_STAND_BEFORE(name) HPCRUN_STAND_BEFORE_WHERE(true, name)
// If `is_there` is false when the library is loaded, the function is looked up at its first call. A failed
// lookup makes the C library format its error in memory of the program's allocator, and would change the
// addresses of later blocks.
#define HPCRUN_STAND_BEFORE_WHERE(is_there, name)                               \
  static constinit hpcrun::Behind hpcrun_behind_##name{#name};                  \
  __attribute__((constructor(101))) static void hpcrun_find_##name() noexcept { \
    if (is_there) hpcrun_behind_##name.get();                                   \
  }                                                                             \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_BEHIND(name) (reinterpret_cast<decltype(&::name)>(hpcrun_behind_##name.get()))
#define HPCRUN_EXPORT extern "C" __attribute__((visibility("default")))
