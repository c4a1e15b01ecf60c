#pragma once
// Memory for tables that the process has one of, zeroed, taken from the kernel page by page as it is touched.
// A forked child does not get it. Async-signal-safe.

#include <cstddef>

#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

// nullptr: there is none.
template <typename T>
T* map_private(size_t count) noexcept {
  return static_cast<T*>(map_own_memory(count * sizeof(T)));
}

}  // namespace hpcrun
