#pragma once
// The lines that mutexes are moved to, and which of them each address has: for ever, so that a mutex that is
// made anew in the same place, and moved again, takes no other, and nobody who is late finds memory that is
// gone. Of fixed size, in the library's own memory, of which the kernel gives what is used; a forked child
// has a copy, as it has of the mutexes. Lock-free; any thread may call anything at any time;
// async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/sync/shadow_mutex.h"

namespace hpcrun {

class ShadowTable {
 public:
  static constexpr uint32_t kMostShadows = 16 * 1024;  // a MiB

  // The one that the mutex was moved to; nullptr: none.
  pthread_mutex_t* find(const pthread_mutex_t* mutex) noexcept {
    const uintptr_t address = shadow_address(mutex);
    if (address == 0) [[likely]]
      return nullptr;
    const uintptr_t offset = address - reinterpret_cast<uintptr_t>(shadows_);
    if (offset >= sizeof shadows_ || offset % sizeof(ShadowMutex) != 0) return nullptr;
    ShadowMutex& shadow = shadows_[offset / sizeof(ShadowMutex)];
    return shadow.original.load(std::memory_order_relaxed) == mutex ? &shadow.mutex : nullptr;
  }

  // What to move the mutex to, which the calling thread has; nullptr: there are too many.
  ShadowMutex* take(const pthread_mutex_t* mutex) noexcept;

  // True the first time for a lock that has no shadow; false where there is no room to remember it.
  bool is_first_refusal(const volatile void* lock) noexcept;

  // What is at the address stays there for good, whatever becomes of it; is_left(): it was left, or there is
  // no room to remember anything of it.
  void leave(const pthread_mutex_t* mutex) noexcept;
  bool is_left(const pthread_mutex_t* mutex) noexcept;

 private:
  static constexpr uint32_t kPlaces = 4 * kMostShadows;  // for those that were refused, too
  static constexpr uint32_t kMostProbes = 64;
  static constexpr uint32_t kUnknown = 0;
  static constexpr uint32_t kRefused = UINT32_MAX;
  static constexpr uint32_t kLeft = UINT32_MAX - 1;

  struct Place {
    std::atomic<uintptr_t> lock{};
    std::atomic<uint32_t> shadow{};  // number + 1, kUnknown, kRefused or kLeft
  };

  Place* place_of(const volatile void* lock) noexcept;
  ShadowMutex* take_new() noexcept;

  std::atomic<uint32_t> given_out_{};
  Place places_[kPlaces] = {};
  ShadowMutex shadows_[kMostShadows] = {};
};

extern constinit ShadowTable shadow_table;

}  // namespace hpcrun
