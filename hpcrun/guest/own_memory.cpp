#include "hpcrun/guest/own_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/guest/own_ranges.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr size_t kPage = 4096;

constinit std::atomic<const MemorySource*> current{nullptr};

void* map(size_t bytes, InChild in_child) noexcept {
  if (const MemorySource* const source = current.load(std::memory_order_acquire)) return source->map(bytes);
  const int kind = in_child == InChild::Same ? MAP_SHARED : MAP_PRIVATE;
  void* const at =
      sys_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  if (in_child == InChild::Nothing) sys_madvise(at, bytes, MADV_DONTFORK);
  return at;
}

}  // namespace

void* map_own_memory(size_t bytes, InChild in_child) noexcept {
  void* const at = map(bytes, in_child);
  const bool is_in_child =
      in_child != InChild::Nothing || current.load(std::memory_order_relaxed) != nullptr;
  if (at) note_own_range(at, bytes, is_in_child);
  return at;
}

void populate_own_memory(void* at, size_t bytes) noexcept {
  if (current.load(std::memory_order_acquire)) return;
  const auto begin = reinterpret_cast<uintptr_t>(at);
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage, end = (begin + bytes) / kPage * kPage;
  if (first < end) sys_madvise(reinterpret_cast<void*>(first), end - first, kPopulateWrite);
}

void* map_emptied_page() noexcept {
  if (const MemorySource* const source = current.load(std::memory_order_acquire))
    return source->map_emptied_page();
  void* const page = sys_mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (sys_madvise(page, kPage, MADV_WIPEONFORK) == 0) return page;
  sys_munmap(page, kPage);
  return nullptr;
}

void unmap_own_memory(void* at, size_t bytes) noexcept {
  remove_own_range(at);
  if (const MemorySource* const source = current.load(std::memory_order_acquire))
    source->unmap(at, bytes);
  else
    sys_munmap(at, bytes);
}

void set_memory_source(const MemorySource* source) noexcept {
  current.store(source, std::memory_order_release);
}

}  // namespace hpcrun
