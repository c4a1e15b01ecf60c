#pragma once
// Which memory threads may have for themselves: variables of the program and its libraries, and what its
// allocator gave it, unless the C or C++ library, a thread's own code or a lock is at home there. Takes the
// loader's lock.

#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

// None: the page may be isolated. `is_allocation`: what is contended for there is known to be one.
WhyShared why_not_isolatable(uint64_t page, bool is_allocation) noexcept;

// For each piece of whole pages with variables that may be.
void for_each_variables(void (*use)(uint64_t low, uint64_t high, void* argument) noexcept,
                        void* argument) noexcept;

}  // namespace hpcrun
