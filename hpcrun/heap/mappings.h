#pragma once
// Memory that the program maps itself, for arenas, pools and shared memory: where it begins and ends, and
// where in the program it was mapped. Apart from AllocationMap, because allocators that take their memory so
// make allocations in it.
//
// Shared by all threads of a process, without locks; async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/heap/allocation_map.h"

namespace hpcrun {

struct FoundMapping {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  SiteId site = kNoSite;
  uint32_t place = 0;
};

class Mappings {
 public:
  static constexpr uint64_t kNone = 0;

  // Takes 24 KiB from the kernel, as they are used. False: there are none.
  bool start() noexcept;

  // In a forked child, which has none of the parent's.
  void forget() noexcept;

  // `begin`: a multiple of the page size, below 2^AllocationMap::kAddressBits. False: there is no room, or
  // the address is beyond; it will not be found.
  bool add(uint64_t begin, uint64_t bytes, SiteId site) noexcept;

  // What begins there is gone: the number that it was told by, kNone where it was not.
  uint64_t remove(uint64_t begin) noexcept;

  // Of mappings in each other the one that begins last. False: none is known.
  bool find(uint64_t address, FoundMapping& out) const noexcept;

  // The number of what find() found; `number` where it had none yet. kNone: it is gone.
  uint64_t number_of(const FoundMapping& found, uint64_t number) noexcept;

 private:
  static constexpr uint32_t kPlaces = 1024;
  static constexpr uint32_t kTries = 16;  // places that an address can be at

  struct Place {
    std::atomic<uint64_t> key;  // page and site, packed; 0: free, 1: being filled
    std::atomic<uint64_t> bytes;
    std::atomic<uint64_t> number;
  };

  Place& place(uint64_t begin, uint32_t step) const noexcept;

  Place* places_ = nullptr;
};

}  // namespace hpcrun
