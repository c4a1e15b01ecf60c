#pragma once
// Which modules take care of their atomic operations themselves: those of which all code was compiled, and
// which were linked, by `prof cc` or `prof c++` (repair/isolate/pass/regions.h).

#include <link.h>

namespace hpcrun {

// Of a module as dl_iterate_phdr(3) describes it, while it stays loaded. A module of which only some objects
// are annotated is not, nor is one with another version of the contract. Async-signal-safe.
bool is_annotated(const dl_phdr_info& module) noexcept;

}  // namespace hpcrun
