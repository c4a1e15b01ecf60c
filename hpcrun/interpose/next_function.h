#pragma once
// Finds the functions that ours interpose on: the one mechanism of all our libraries. A function is looked up
// before our constructors and the program's run. Later, a lookup would wait for the loader's lock in threads
// that the lock's holder may wait for, and a failure would reset the program's dlerror() and allocate memory
// by the program's allocator. Functions that constructors of other libraries call before
// that are looked up at the first use. Async-signal-safe once the library is loaded.

#include <dlfcn.h>

#include <atomic>

namespace hpcrun {

// Returns where a library looks up its next functions: RTLD_NEXT, or RTLD_DEFAULT in a runtime that was
// loaded into a running process and is not in front of other libraries. Each library links one definition.
[[nodiscard]] void* next_scope() noexcept;

// Looks up a function of another library, first with a version if one is given. Returns nullptr if there is
// none; the program does not see the error. Takes the loader's lock.
[[nodiscard]] inline void* find_next(const char* name, const char* version = nullptr) noexcept {
  void* found = version ? dlvsym(next_scope(), name, version) : nullptr;
  if (!found) found = dlsym(next_scope(), name);
  if (!found) dlerror();
  return found;
}

struct NextFunction {
  const char* name;
  const char* version = nullptr;  // preferred to a function without one
  std::atomic<void*> function{nullptr};
  std::atomic<bool> is_missing{false};

  // Returns nullptr if no library has the function, which is looked up once.
  [[nodiscard]] void* get() noexcept {
    void* const known = function.load(std::memory_order_relaxed);
    if (known) [[likely]]
      return known;
    return look_up();
  }

  [[gnu::noinline, gnu::cold]] void* look_up() noexcept {
    if (is_missing.load(std::memory_order_relaxed)) return nullptr;
    void* const found = find_next(name, version);
    is_missing.store(!found, std::memory_order_relaxed);
    function.store(found, std::memory_order_relaxed);
    return found;
  }
};

}  // namespace hpcrun

// HPCRUN_NEXT(name) is the next function. It is declared by one of
//   HPCRUN_NEXT_OF(name)              with the type that a header declares
//   HPCRUN_NEXT_OF_TYPE(name, type)   with a type given explicitly
//   HPCRUN_NEXT_OF_IF(is_there, name) the same; if `is_there` is false when the library is loaded, the
//                                     function is looked up at its first call
// An early lookup that fails would change the addresses of the program's later blocks.
#define HPCRUN_NEXT_OF_TYPE(name, ...)       \
  using hpcrun_type_of_##name = __VA_ARGS__; \
  HPCRUN_FIND_NEXT(true, name, {#name})
#define HPCRUN_NEXT_OF_IF(is_there, name)         \
  using hpcrun_type_of_##name = decltype(::name); \
  HPCRUN_FIND_NEXT(is_there, name, {#name})
#define HPCRUN_NEXT_OF(name) HPCRUN_NEXT_OF_IF(true, name)
#define HPCRUN_NEXT(name) (reinterpret_cast<hpcrun_type_of_##name*>(hpcrun_next_##name.get()))

// Defines hpcrun_next_<name>, a NextFunction with this initialiser, and looks it up when the library is
// loaded.
#define HPCRUN_FIND_NEXT(is_there, name, ...)                                   \
  static constinit hpcrun::NextFunction hpcrun_next_##name __VA_ARGS__;         \
  __attribute__((constructor(101))) static void hpcrun_find_##name() noexcept { \
    if (is_there) (void)hpcrun_next_##name.get(); /* keeps what it finds */     \
  }                                                                             \
  static_assert(true) /* takes the semicolon */

#define HPCRUN_EXPORT extern "C" __attribute__((visibility("default")))
