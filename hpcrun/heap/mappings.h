#pragma once
// Keeps memory that the program maps itself, for arenas, pools and shared memory, with the site that mapped
// it. Separate from AllocationMap, because allocators make allocations in such memory.
//
// One per process, shared by all threads without locks. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/heap/allocation_map.h"

namespace hpcrun {

struct FoundMapping {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  SiteId site = kNoSite;
  uint32_t slot = 0;
};

class Mappings {
 public:
  static constexpr uint64_t kNone = 0;

  // Reserves 24 KiB, which the kernel provides as they are used. Returns false if there is no memory.
  bool start() noexcept;

  // Resets the table in a forked child, which has none of the parent's mappings.
  void reset_after_fork() noexcept;

  // Adds a mapping; `begin` is a multiple of the page size below 2^AllocationMap::kAddressBits. Returns false
  // if there is no room, or the address is beyond that; then it will not be found.
  bool add(uint64_t begin, uint64_t bytes, SiteId site) noexcept;

  // Removes the mapping that begins there. Returns its number in the file, or kNone if it has none.
  uint64_t remove(uint64_t begin) noexcept;

  // Finds the mapping that contains the address; of nested ones, the one that begins last. Returns false if
  // none is known.
  bool find(uint64_t address, FoundMapping& out) const noexcept;

  // Returns the number of a mapping that find() found, and assigns `number` if it had none. Returns kNone if
  // it was removed.
  uint64_t number_of(const FoundMapping& found, uint64_t number) noexcept;

 private:
  static constexpr uint32_t kSlots = 1024;
  static constexpr uint32_t kTries = 16;  // slots that an address can have

  struct Slot {
    std::atomic<uint64_t> key;  // page and site, packed; 0: free, 1: being filled
    std::atomic<uint64_t> bytes;
    std::atomic<uint64_t> number;
  };

  Slot& slot(uint64_t begin, uint32_t step) const noexcept;

  Slot* slots_ = nullptr;
};

}  // namespace hpcrun
