// Calls from prof's other preloaded libraries to the runtime.

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sample/state.h"

HPCRUN_EXPORT void hpcrun_set_memory_source(const hpcrun::MemorySource* source) noexcept {
  hpcrun::set_memory_source(source);
}

HPCRUN_EXPORT void hpcrun_set_aside_less() noexcept {
  hpcrun::process_state.file.map_less_ahead();
}

HPCRUN_EXPORT void hpcrun_keep_descriptor(int descriptor, bool is_own) noexcept {
  if (is_own)
    hpcrun::remember_descriptor(descriptor);
  else
    hpcrun::remove_own_descriptor(descriptor);
}
