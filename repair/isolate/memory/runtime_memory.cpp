#include "repair/isolate/memory/runtime_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "repair/isolate/memory/common_calls.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/memory/reservation.h"
#include "repair/isolate/session/converted_thread.h"

namespace hpcrun {

namespace {

constexpr int kPlain = PROT_READ | PROT_WRITE;

// The runtime allocates in handlers, for which a converted thread does not come home.
void* map_in_converted_thread(size_t bytes) noexcept {
  const uint64_t low = take_reserved(page_up(bytes));
  if (low) note_common(low, low + page_up(bytes), kPlain);
  return reinterpret_cast<void*>(low);
}

void* map(size_t bytes) noexcept {
  if (is_converted()) return map_in_converted_thread(bytes);
  const long at = common_mmap(nullptr, bytes, kPlain, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<void*>(at);
}

void unmap(void* at, size_t bytes) noexcept {
  common_munmap(at, bytes);
}

// More than are ever requested.
constinit std::atomic<void*> emptied_pages[4];

void* map_page_to_empty() noexcept {
  void* const page = map(kPageBytes);
  if (!page) return nullptr;
  for (std::atomic<void*>& place : emptied_pages) {
    void* none = nullptr;
    if (place.compare_exchange_strong(none, page)) return page;
  }
  unmap(page, kPageBytes);
  return nullptr;
}

}  // namespace

const MemorySource& common_memory_source() noexcept {
  static constexpr MemorySource source = {map, unmap, map_page_to_empty};
  return source;
}

void empty_pages_after_fork() noexcept {
  for (std::atomic<void*>& place : emptied_pages)
    if (void* const page = place.exchange(nullptr)) memset(page, 0, kPageBytes);
}

}  // namespace hpcrun
