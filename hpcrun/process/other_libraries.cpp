// What libraries of ours that are preloaded behind the runtime tell it.

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/process/next.h"

HPCRUN_EXPORT void hpcrun_set_memory_source(const hpcrun::MemorySource* source) noexcept {
  hpcrun::set_memory_source(source);
}

HPCRUN_EXPORT void hpcrun_keep_descriptor(int descriptor, bool is_own) noexcept {
  if (is_own)
    hpcrun::remember_descriptor(descriptor);
  else
    hpcrun::forget_descriptor(descriptor);
}
