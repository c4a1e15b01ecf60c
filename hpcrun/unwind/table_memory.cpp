#include "hpcrun/unwind/table_memory.h"

#include <atomic>

#include "hpcrun/guest/own_memory.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {
namespace {

constexpr size_t kAlign = 16;
constexpr size_t kChunkBytes = 256 * 1024;  // the tables of a dozen ordinary libraries
constexpr size_t kHugePage = 2 * 1024 * 1024;
constexpr size_t kOwnMappingBytes = kChunkBytes / 4;

struct alignas(kAlign) Chunk {
  std::atomic<size_t> used;
};

std::atomic<Chunk*> current{nullptr};
std::atomic<size_t> mapped{0};

void* map(size_t bytes) noexcept {
  void* at = map_own_memory(bytes, InChild::Copy);
  if (!at) return nullptr;
  // The rows of a large program are read at random: small pages would miss the TLB each time.
  if (bytes >= kHugePage) sys_madvise(at, bytes, MADV_HUGEPAGE);
  mapped.fetch_add(bytes, std::memory_order_relaxed);
  return at;
}

}  // namespace

void* lasting_allocate(size_t bytes) noexcept {
  bytes = (bytes + kAlign - 1) / kAlign * kAlign;
  if (bytes > kOwnMappingBytes) return map((bytes + 4095) / 4096 * 4096);
  while (true) {
    Chunk* chunk = current.load(std::memory_order_acquire);
    if (chunk) {
      const size_t at = chunk->used.fetch_add(bytes, std::memory_order_relaxed);
      if (at + bytes <= kChunkBytes) return reinterpret_cast<char*>(chunk) + at;
    }
    auto* fresh = static_cast<Chunk*>(map(kChunkBytes));
    if (!fresh) return nullptr;
    fresh->used.store(sizeof(Chunk), std::memory_order_relaxed);
    if (!current.compare_exchange_strong(chunk, fresh, std::memory_order_acq_rel)) {
      // Another thread was faster, and readers of its chunk are none of ours: ours goes back.
      unmap_own_memory(fresh, kChunkBytes);
      mapped.fetch_sub(kChunkBytes, std::memory_order_relaxed);
    }
  }
}

size_t lasting_bytes() noexcept {
  return mapped.load(std::memory_order_relaxed);
}

}  // namespace hpcrun
