#include "hpcrun/hooks.h"

namespace hpcrun {

constinit HookTable hook_table;
constinit ConversionHooks conversion_hooks;

void register_kinds(const Hooks* const* kinds, uint32_t count) noexcept {
  if (hook_table.kinds[0]) return;
  for (uint32_t number = 0; number < count; ++number) {
    kinds[number]->kind->number = number;
    hook_table.kinds[number] = kinds[number];
  }
}

}  // namespace hpcrun
