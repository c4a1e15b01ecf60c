#pragma once
// The function that ours stands in front of. Resolved once, outside handlers.

#include <dlfcn.h>

namespace hpcrun {

template <typename Function>
Function* next_function(Function*& cached, const char* name) noexcept {
  if (!cached) cached = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return cached;
}

}  // namespace hpcrun

// Declares NEXT(name) for an interposed function of the C library.
#define HPCRUN_NEXT(name) (hpcrun::next_function(hpcrun_next_##name, #name))
#define HPCRUN_NEXT_OF(name) static decltype(::name)* hpcrun_next_##name
#define HPCRUN_EXPORT extern "C" __attribute__((visibility("default")))
