#pragma once
// Detects modules that handle their atomic operations themselves: all of their code was compiled and linked
// by `prof cc` or `prof c++` (repair/isolate/pass/regions.h).

#include <link.h>

namespace hpcrun {

// True if the module, as dl_iterate_phdr(3) describes it, is annotated. False if only some of its objects
// are, or by another version of the contract. The module must stay loaded. Async-signal-safe.
bool is_annotated(const dl_phdr_info& module) noexcept;

}  // namespace hpcrun
