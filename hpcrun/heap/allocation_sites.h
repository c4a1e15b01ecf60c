#pragma once
// Numbers the places where a program allocates, so that the allocation map can hold them. A site is a calling
// context and a size; the sizes of a context with many of them are rounded up to powers of two. Equal paths
// of several threads have the same numbers.
//
// One per process, shared by all threads without locks. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/heap/allocation_map.h"

namespace hpcrun {

struct AllocationSite {
  uint32_t thread = 0;  // the thread whose tree has the context
  uint32_t node = 0;    // the context in that tree
  uint64_t bytes = 0;   // requested size, above 0 and below 2^47
  bool varies = false;  // sizes differ; `bytes` is the power of two that none of them exceeds
  uint32_t align = 1;   // alignment that the first allocation requested
  uint64_t caller = 0;  // return address of the call of the allocator
  uint64_t outer = 0;   // return address of its caller; 0: not known
};

class AllocationSites {
 public:
  static constexpr uint32_t kMaxSizes = 16;  // of one context, before it counts as varying

  // Reserves 3 MiB, which the kernel provides as they are used. Returns false if there is no memory.
  bool start() noexcept;

  // Populates the pages that a program with threads will use (populate_own_memory()).
  void populate() noexcept;

  // Resets the table in a forked child, which has none of the parent's memory for it. start() must follow.
  void reset_after_fork() noexcept;

  // Returns the number of a site, which is new or known. `path` is a hash of the context's frames, not 0.
  // Returns kNoSite if all numbers are in use.
  SiteId number_of(uint64_t path, const AllocationSite& site) noexcept;

  // Returns the site of a number that number_of() returned.
  AllocationSite site(SiteId number) const noexcept;

  uint32_t count() const noexcept { return given_out_.load(std::memory_order_relaxed); }

 private:
  // Levels are searched in order. Each is twice as large as the one before, and only a few slots of it are
  // tried, except in the last. So a program with few sites touches few pages.
  static constexpr uint32_t kLevels = 7, kFirstSlots = 1'024, kTries = 16;
  static constexpr uint32_t kSlots = ((1 << kLevels) - 1) * kFirstSlots;

  struct Slot {
    std::atomic<uint64_t> key;     // of path and size; 0: free
    std::atomic<uint32_t> number;  // 0: being assigned
    std::atomic<uint32_t> sizes;   // number of sizes of a path whose sizes vary
  };

  // Returns how many slots of a level a key may have. It takes the first free one.
  static uint32_t tries(uint32_t level) noexcept {
    return level + 1 < kLevels ? kTries : kFirstSlots << level;
  }
  Slot& tried(uint64_t key, uint32_t level, uint32_t step) noexcept {
    const uint32_t slots = kFirstSlots << level;
    return slots_[slots - kFirstSlots + ((key >> 32) + step) % slots];
  }

  Slot* slot_of(uint64_t key, bool make) noexcept;
  SiteId number_at(Slot& slot, const AllocationSite& site) noexcept;

  Slot* slots_ = nullptr;
  AllocationSite* sites_ = nullptr;  // by number
  std::atomic<uint32_t> given_out_{0};
};

}  // namespace hpcrun
