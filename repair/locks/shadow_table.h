#pragma once
// The cache lines that locks are moved to, and the line of each lock's address. The assignment is permanent:
// a lock that is created again at the same address and moved again gets the same line, and a late thread
// never finds freed memory. The table has a fixed size and lies in the library's own memory, of which the
// kernel provides what is used. A forked child has a copy, as of the locks. Lock-free and async-signal-safe;
// any thread may call anything at any time.

#include <atomic>
#include <cstdint>

#include "hpcrun/sync/shadow_lock.h"

namespace hpcrun {

class ShadowTable {
 public:
  static constexpr uint32_t kMaxShadows = 16 * 1024;  // 1 MiB in all

  // Returns the shadow of a mutex or a read-write lock, or nullptr if it was not moved.
  ShadowLock* find(const void* lock) noexcept {
    const uintptr_t address = shadow_address(lock);
    if (address == 0) [[likely]]
      return nullptr;
    const uintptr_t offset = address - reinterpret_cast<uintptr_t>(shadows_);
    if (offset >= sizeof shadows_ || offset % sizeof(ShadowLock) != 0) return nullptr;
    // Computed from the address that was read, because taking the lock depends on that load only.
    auto* const shadow = reinterpret_cast<ShadowLock*>(address);
    return shadow->original.load(std::memory_order_relaxed) == lock ? shadow : nullptr;
  }

  // Returns a shadow to move the lock to, which only the calling thread has, or nullptr if there are too
  // many.
  ShadowLock* take(const void* lock) noexcept;

  // True the first time for a lock without a shadow. False if there is no room to remember it.
  bool is_first_refusal(const volatile void* lock) noexcept;

  // leave() marks the lock at the address as one that is never moved, whatever becomes of it. is_left() is
  // true if it was marked, or if there is no room to remember it.
  void leave(const void* lock) noexcept;
  bool is_left(const void* lock) noexcept;

 private:
  static constexpr uint32_t kSlots = 4 * kMaxShadows;  // including refused locks
  static constexpr uint32_t kMaxProbes = 64;
  static constexpr uint32_t kUnknown = 0;
  static constexpr uint32_t kRefused = UINT32_MAX;
  static constexpr uint32_t kLeft = UINT32_MAX - 1;

  struct Slot {
    std::atomic<uintptr_t> lock{};
    std::atomic<uint32_t> shadow{};  // number + 1, kUnknown, kRefused or kLeft
  };

  Slot* slot_of(const volatile void* lock) noexcept;
  ShadowLock* take_new() noexcept;

  std::atomic<uint32_t> given_out_{};
  Slot slots_[kSlots] = {};
  ShadowLock shadows_[kMaxShadows] = {};
};

extern constinit ShadowTable shadow_table;

}  // namespace hpcrun
