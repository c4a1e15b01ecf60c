#pragma once
// How libraries of ours between programs and the C library, beside the runtime, find what they stand in front
// of. Async-signal-safe after the library was loaded.

#include <dlfcn.h>

#include <atomic>

namespace hpcrun {

// The function that ours stands in front of; looked up as the library is loaded, or at a call before that.
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
    if (!found) dlerror();  // the program must not find our failure
    function.store(found, std::memory_order_relaxed);
    return found;
  }
};

}  // namespace hpcrun

// HPCRUN_BEHIND(name) is the C library's function.
#define HPCRUN_STAND_BEFORE(name) HPCRUN_STAND_BEFORE_WHERE(true, name)
// Where `is_there` is false as the library is loaded, it is looked up at the first call: the C library tells
// what is not found in memory of the program's allocator, whose blocks would lie elsewhere than without.
#define HPCRUN_STAND_BEFORE_WHERE(is_there, name)                               \
  static constinit hpcrun::Behind hpcrun_behind_##name{#name};                  \
  __attribute__((constructor(101))) static void hpcrun_find_##name() noexcept { \
    if (is_there) hpcrun_behind_##name.get();                                   \
  }                                                                             \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_BEHIND(name) (reinterpret_cast<decltype(&::name)>(hpcrun_behind_##name.get()))
#define HPCRUN_EXPORT extern "C" __attribute__((visibility("default")))
