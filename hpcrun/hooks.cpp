#include "hpcrun/hooks.h"

namespace hpcrun {

constinit HookTable hook_table;
constinit ConversionCalls conversion_calls;

void register_kinds(const Hooks* const* kinds, uint32_t count) noexcept {
  if (hook_table.kinds[0]) return;
  for (uint32_t number = 0; number < count; ++number) {
    kinds[number]->kind->number = number;
    hook_table.kinds[number] = kinds[number];
  }
}

namespace {

uint64_t all_signals(uint64_t (*Hooks::*hook)() noexcept) noexcept {
  uint64_t signals = 0;
  for (const Hooks* const kind : hook_table.kinds)
    if (kind && kind->*hook) signals |= (kind->*hook)();
  return signals;
}

}  // namespace

uint64_t signals_of_kinds() noexcept {
  return all_signals(&Hooks::signals) | request_signals_of_kinds();
}

uint64_t request_signals_of_kinds() noexcept {
  return all_signals(&Hooks::request_signals);
}

}  // namespace hpcrun
