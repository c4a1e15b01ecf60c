#include "hpcrun/unwind/table_memory.h"

#include <atomic>

#include "hpcrun/guest/own_memory.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {
namespace {

constexpr size_t kAlign = 16;
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = 2 * 1024 * 1024;

constexpr size_t round_up(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

struct alignas(kAlign) Chunk {
  std::atomic<size_t> used;  // in shared memory, of all processes that have it
};

struct Pool {
  InChild in_child;
  size_t chunk_bytes;
  std::atomic<Chunk*> current{nullptr};
};
constinit Pool copied{InChild::Copy, size_t{64} * 1024};
constinit Pool shared{InChild::Same, size_t{1024} * 1024};  // the tables of a dozen ordinary libraries

std::atomic<size_t> handed_out{0};

void* allocate_from(Pool& pool, size_t bytes) noexcept {
  while (true) {
    Chunk* chunk = pool.current.load(std::memory_order_acquire);
    if (chunk) {
      const size_t at = chunk->used.fetch_add(bytes, std::memory_order_relaxed);
      if (at + bytes <= pool.chunk_bytes) return reinterpret_cast<char*>(chunk) + at;
    }
    auto* fresh = static_cast<Chunk*>(map_own_memory(pool.chunk_bytes, pool.in_child));
    if (!fresh) return nullptr;
    fresh->used.store(sizeof(Chunk), std::memory_order_relaxed);
    // Where another thread is faster, readers of its chunk are none of ours: ours goes back.
    if (!pool.current.compare_exchange_strong(chunk, fresh, std::memory_order_acq_rel))
      unmap_own_memory(fresh, pool.chunk_bytes);
  }
}

// The rows of a large program are read at random: small pages would miss the TLB each time. Of huge pages a
// fork copies few entries.
void* map_huge(size_t bytes) noexcept {
  void* const at = map_own_memory(bytes, InChild::Copy);
  if (at) sys_madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

void* allocate(Pool& pool, size_t bytes) noexcept {
  void* at = nullptr;
  if (bytes >= kHugePage)
    at = map_huge(bytes = round_up(bytes, kPage));
  else if (bytes > pool.chunk_bytes / 4)
    at = map_own_memory(bytes = round_up(bytes, kPage), pool.in_child);
  else
    at = allocate_from(pool, bytes = round_up(bytes, kAlign));
  if (at) handed_out.fetch_add(bytes, std::memory_order_relaxed);
  return at;
}

}  // namespace

void* lasting_allocate(size_t bytes) noexcept {
  return allocate(copied, bytes);
}

void* immutable_allocate(size_t bytes) noexcept {
  return allocate(shared, bytes);
}

size_t lasting_bytes() noexcept {
  return handed_out.load(std::memory_order_relaxed);
}

}  // namespace hpcrun
