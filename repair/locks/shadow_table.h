#pragma once
// The lines that locks are moved to, and which of them each address has: for ever, so that a lock that is
// made anew in the same place, and moved again, takes no other, and nobody who is late finds memory that is
// gone. Of fixed size, in the library's own memory, of which the kernel gives what is used; a forked child
// has a copy, as it has of the locks. Lock-free; any thread may call anything at any time;
// async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/sync/shadow_lock.h"

namespace hpcrun {

class ShadowTable {
 public:
  static constexpr uint32_t kMostShadows = 16 * 1024;  // a MiB

  // The one that the lock, a mutex or a read-write lock, was moved to; nullptr: none.
  ShadowLock* find(const void* lock) noexcept {
    const uintptr_t address = shadow_address(lock);
    if (address == 0) [[likely]]
      return nullptr;
    const uintptr_t offset = address - reinterpret_cast<uintptr_t>(shadows_);
    if (offset >= sizeof shadows_ || offset % sizeof(ShadowLock) != 0) return nullptr;
    // By the address as it was read: whoever takes the lock waits for it.
    auto* const shadow = reinterpret_cast<ShadowLock*>(address);
    return shadow->original.load(std::memory_order_relaxed) == lock ? shadow : nullptr;
  }

  // What to move the lock to, which the calling thread has, alone; nullptr: there are too many.
  ShadowLock* take(const void* lock) noexcept;

  // True the first time for a lock that has no shadow; false where there is no room to remember it.
  bool is_first_refusal(const volatile void* lock) noexcept;

  // What is at the address stays there for good, whatever becomes of it; is_left(): it was left, or there is
  // no room to remember anything of it.
  void leave(const void* lock) noexcept;
  bool is_left(const void* lock) noexcept;

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
  ShadowLock* take_new() noexcept;

  std::atomic<uint32_t> given_out_{};
  Place places_[kPlaces] = {};
  ShadowLock shadows_[kMostShadows] = {};
};

extern constinit ShadowTable shadow_table;

}  // namespace hpcrun
