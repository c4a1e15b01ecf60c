#include "hpcrun/guest/own_memory.h"

#include <sys/mman.h>

#include <atomic>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constinit std::atomic<const MemorySource*> current{nullptr};

}  // namespace

void* map_own_memory(size_t bytes) noexcept {
  if (const MemorySource* const source = current.load(std::memory_order_acquire)) return source->map(bytes);
  void* const at =
      sys_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  // A forked child starts with its own state and must not inherit a copy of its parent's.
  sys_madvise(at, bytes, MADV_DONTFORK);
  return at;
}

void unmap_own_memory(void* at, size_t bytes) noexcept {
  if (const MemorySource* const source = current.load(std::memory_order_acquire))
    source->unmap(at, bytes);
  else
    sys_munmap(at, bytes);
}

void set_memory_source(const MemorySource* source) noexcept {
  current.store(source, std::memory_order_release);
}

}  // namespace hpcrun
