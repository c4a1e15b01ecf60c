#pragma once
// Memory for tables that the process has one of, zeroed, taken from the kernel page by page as it is touched.
// A forked child does not get it. Async-signal-safe.

#include <sys/mman.h>

#include <cstddef>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

// nullptr: there is none.
template <typename T>
T* map_private(size_t count) noexcept {
  void* const at = sys_mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  sys_madvise(at, count * sizeof(T), MADV_DONTFORK);
  return static_cast<T*>(at);
}

}  // namespace hpcrun
