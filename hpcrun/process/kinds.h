#pragma once
// Calls the hooks of all kinds of waste and repairs (hpcrun/hooks.h) as the process runs. Hooks of handlers
// are called by hpcrun/sample.

#include "hpcrun/hooks.h"

namespace hpcrun {

// All kinds, in the order in which their hooks are called.
extern const Hooks* const kKinds[];
extern const uint32_t kKindCount;

// Calls one hook of all kinds that have it: call_hooks<&Hooks::start>().
template <auto kHook, typename... Arguments>
void call_hooks(Arguments&&... arguments) noexcept {
  for (uint32_t i = 0; i < kKindCount; ++i)
    if (const auto hook = kKinds[i]->*kHook) hook(arguments...);
}

}  // namespace hpcrun
