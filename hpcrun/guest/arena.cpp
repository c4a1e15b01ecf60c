#include "hpcrun/guest/arena.h"

#include <atomic>

#include "hpcrun/guest/own_memory.h"

namespace hpcrun {

struct Arena::Chunk {
  Chunk* next;
  size_t bytes;
};

namespace {
std::atomic<size_t> process_bytes{0};
constexpr size_t kAlign = 16;
constexpr size_t round_up(size_t n, size_t to) {
  return (n + to - 1) / to * to;
}
}  // namespace

Arena::Chunk* Arena::map_chunk(size_t bytes) noexcept {
  bytes = round_up(bytes, 4096);
  void* at = map_own_memory(bytes);
  if (!at) return nullptr;
  auto* chunk = static_cast<Chunk*>(at);
  chunk->next = chunks_;
  chunk->bytes = bytes;
  chunks_ = chunk;
  bytes_mapped_ += bytes;
  process_bytes.fetch_add(bytes, std::memory_order_relaxed);
  return chunk;
}

void* Arena::allocate(size_t bytes) noexcept {
  bytes = round_up(bytes, kAlign);
  constexpr size_t kHeader = round_up(sizeof(Chunk), kAlign);
  if (bytes > kChunkBytes / 4) {
    Chunk* chunk = map_chunk(bytes + kHeader);
    return chunk ? reinterpret_cast<char*>(chunk) + kHeader : nullptr;
  }
  if (static_cast<size_t>(end_ - next_) < bytes) {
    Chunk* chunk = map_chunk(kChunkBytes);
    if (!chunk) return nullptr;
    next_ = reinterpret_cast<char*>(chunk) + kHeader;
    end_ = reinterpret_cast<char*>(chunk) + kChunkBytes;
  }
  void* result = next_;
  next_ += bytes;
  return result;
}

void Arena::release_all() noexcept {
  Chunk* chunk = chunks_;
  while (chunk) {
    Chunk* next = chunk->next;
    const size_t bytes = chunk->bytes;
    process_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    unmap_own_memory(chunk, bytes);
    chunk = next;
  }
  *this = Arena{};
}

size_t Arena::process_bytes_mapped() noexcept {
  return process_bytes.load(std::memory_order_relaxed);
}

void Arena::reset_after_fork() noexcept {
  process_bytes.store(0, std::memory_order_relaxed);
}

}  // namespace hpcrun
