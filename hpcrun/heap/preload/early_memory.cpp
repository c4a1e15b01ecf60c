#include "hpcrun/heap/preload/early_memory.h"

#include <errno.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "hpcrun/heap/preload/allocator.h"

namespace hpcrun {

namespace {

constexpr size_t kBytes = 64 * 1024;
constexpr size_t kAlign = 16;

alignas(kAlign) constinit unsigned char memory[kBytes];
constinit std::atomic<size_t> used{0};

}  // namespace

void* allocate_early(size_t bytes) noexcept {
  const size_t whole = kAlign + (bytes + kAlign - 1) / kAlign * kAlign;  // the size is before it
  if (bytes < kBytes) {
    const size_t at = used.fetch_add(whole, std::memory_order_relaxed);
    if (at + whole <= kBytes) {
      std::memcpy(memory + at, &bytes, sizeof bytes);
      heap_hooks.known.keep(reinterpret_cast<uint64_t>(memory + at + kAlign));
      return memory + at + kAlign;
    }
  }
  errno = ENOMEM;
  return nullptr;
}

bool is_early(const void* at) noexcept {
  return reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(memory) < kBytes;
}

size_t early_bytes(const void* at) noexcept {
  size_t bytes;
  std::memcpy(&bytes, static_cast<const unsigned char*>(at) - kAlign, sizeof bytes);
  return bytes;
}

}  // namespace hpcrun
