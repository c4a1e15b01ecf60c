#pragma once
// Where a program allocates: each calling context, with the size that it asked for as long as these are few
// and rounded up to a power of two where they are many, has a number that the allocation map can hold.
// Contexts of several threads that are the same path have the same numbers.
//
// Shared by all threads of a process, without locks; async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/heap/allocation_map.h"

namespace hpcrun {

struct AllocationSite {
  uint32_t thread = 0;  // in whose tree
  uint32_t node = 0;    // the context is
  uint64_t bytes = 0;   // that it asks for, above 0 and below 2^47
  bool varies = false;  // `bytes` is a power of two that is not exceeded
  uint32_t align = 1;   // what the first allocation asks its address to be a multiple of
  uint64_t caller = 0;  // return address of the calls, and
  uint64_t outer = 0;   // of those of the function that makes them; 0: not known
};

class AllocationSites {
 public:
  static constexpr uint32_t kMaxSizes = 16;  // of one context, before these count as varying

  // Takes 3 MiB from the kernel, as they are used. False: there are none.
  bool start() noexcept;

  // Takes the pages that a program with threads comes to use (populate_own_memory()).
  void populate() noexcept;

  // In a forked child, which has none of the parent's memory for it: to be started anew.
  void forget() noexcept;

  // `path`: a hash of the context's frames, not 0. kNoSite: all numbers are given out.
  SiteId number_of(uint64_t path, const AllocationSite& site) noexcept;

  // A number that number_of() gave out.
  AllocationSite site(SiteId number) const noexcept;

  uint32_t count() const noexcept { return given_out_.load(std::memory_order_relaxed); }

 private:
  // Places are looked for in one level after the other, each twice as large, at a few places of each but the
  // last: a program with few sites touches few pages.
  static constexpr uint32_t kLevels = 7, kFirstPlaces = 1'024, kTries = 16;
  static constexpr uint32_t kPlaces = ((1 << kLevels) - 1) * kFirstPlaces;

  struct Place {
    std::atomic<uint64_t> key;     // of path and size; 0: free
    std::atomic<uint32_t> number;  // 0: being given out
    std::atomic<uint32_t> sizes;   // of a path whose sizes vary: how many there were
  };

  // Where a key may lie: the first free one of these becomes its place.
  static uint32_t tries(uint32_t level) noexcept {
    return level + 1 < kLevels ? kTries : kFirstPlaces << level;
  }
  Place& tried(uint64_t key, uint32_t level, uint32_t step) noexcept {
    const uint32_t places = kFirstPlaces << level;
    return places_[places - kFirstPlaces + ((key >> 32) + step) % places];
  }

  Place* place_of(uint64_t key, bool make) noexcept;
  SiteId number_at(Place& place, const AllocationSite& site) noexcept;

  Place* places_ = nullptr;
  AllocationSite* sites_ = nullptr;  // by number
  std::atomic<uint32_t> given_out_{0};
};

}  // namespace hpcrun
