#pragma once
// The functions of the C library that the runtime intercepts. They are looked up before our constructor runs.
// A later lookup would wait for the loader's lock, whose holder may be waiting for the same thread, and would
// reset the program's dlerror(). If constructors of other libraries make calls before that, those functions
// are looked up at their first use.

#include <dlfcn.h>

#include "hpcrun/guest/tail_calls.h"
#include "hpcrun/interpose/redirection.h"

namespace hpcrun {

struct Next {
  const char* name;
  void* function = nullptr;  // nullptr if the C library does not have it
  bool resolved = false;

  void resolve() noexcept {
    if (resolved) return;
    function = dlsym(is_loaded_late() ? RTLD_DEFAULT : RTLD_NEXT, name);
    if (!function) dlerror();  // the program must not get our error
    resolved = true;
  }
  void* get() noexcept {
    if (!resolved) [[unlikely]]
      resolve();
    return function;
  }
};

}  // namespace hpcrun

// HPCRUN_NEXT(name) is the C library's function. HPCRUN_NEXT_OF_TYPE names its type, for functions that
// headers may not declare.
#define HPCRUN_NEXT_OF_TYPE(name, ...)                                             \
  using hpcrun_type_of_##name = __VA_ARGS__;                                       \
  static constinit hpcrun::Next hpcrun_next_##name{#name};                         \
  __attribute__((constructor(101))) static void hpcrun_resolve_##name() noexcept { \
    hpcrun_next_##name.resolve();                                                  \
  }                                                                                \
  static_assert(true) /* takes the semicolon */
#define HPCRUN_NEXT_OF(name) HPCRUN_NEXT_OF_TYPE(name, decltype(::name))
#define HPCRUN_NEXT(name) (reinterpret_cast<hpcrun_type_of_##name*>(hpcrun_next_##name.get()))
#define HPCRUN_EXPORT extern "C" __attribute__((visibility("default")))
