#pragma once
// Decides which memory may be isolated: variables of the program and its libraries, and what its allocator
// returned, unless it belongs to the C or C++ library, a thread's own code or a lock. Takes the loader's
// lock.

#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

// Returns WhyShared::None if the page may be isolated. `is_allocation`: the contended data is known to be an
// allocation.
WhyShared reason_not_isolatable(uint64_t page, bool is_allocation) noexcept;

// Calls `use` for each piece of whole pages with variables that may be isolated.
void for_each_variables(void (*use)(uint64_t low, uint64_t high, void* argument) noexcept,
                        void* argument) noexcept;

}  // namespace hpcrun
