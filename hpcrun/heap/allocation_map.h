#pragma once
// Finds the allocation that an address lies in, and the site that made it. The map is a shadow of the address
// space: two bytes for the first 16 bytes of each allocation, and four for each whole 64 KiB inside a large
// one. Adding an allocation is a store or two; a look-up reads at most 16 KiB.
//
// All calls may be made from any thread and in handlers, and take no lock. An allocation must be added before
// another thread can know its address, and removed before it is released. The map's memory comes from the
// kernel: an eighth of what the program allocates in small pieces.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

// The number of an allocation site, chosen by the caller.
using SiteId = uint16_t;
constexpr SiteId kNoSite = 0;
constexpr SiteId kLastSite = 0x7fff;

struct FoundAllocation {
  uint64_t begin = 0;  // rounded down to 16 bytes; objects closer together than that are not distinguished
  SiteId site = kNoSite;
  bool is_marked = false;
};

class AllocationMap {
 public:
  static constexpr uint64_t kGranule = 16;
  static constexpr uint64_t kAddressBits = 47;  // the default address space of a program on Linux

  // Reserves the directory. Returns false if there is no memory; then nothing is added or found.
  bool start() noexcept;

  // Resets the map in a forked child, which has none of the parent's memory for it. start() must follow.
  void reset_after_fork() noexcept;

  // Adds an allocation; `site` is from 1 to kLastSite. Returns false if there is no memory for the shadow, or
  // the address is beyond kAddressBits; then it will not be found.
  bool add(uint64_t begin, uint64_t bytes, SiteId site) noexcept;

  // Returns true if a known allocation begins there.
  bool holds(uint64_t begin) const noexcept;

  // Removes the allocation that begins there. Returns true if it was marked. Has no effect on an unknown one.
  bool remove(uint64_t begin) noexcept;

  // Finds the last allocation that begins at or before the address. The caller must check, by the size of the
  // site, whether it reaches that far. Returns false if none is known.
  bool find(uint64_t address, FoundAllocation& out) const noexcept;

  // Marks an allocation, so that remove() returns true. Returns false if it was removed already.
  bool mark(uint64_t begin) noexcept;

 private:
  static constexpr uint64_t kRegionBits = 26;  // as large as an arena of glibc's
  static constexpr uint64_t kBlockBits = 16;
  static constexpr uint64_t kRegions = uint64_t{1} << (kAddressBits - kRegionBits);
  static constexpr uint64_t kCells = (uint64_t{1} << kRegionBits) / kGranule;
  static constexpr uint64_t kBlocks = uint64_t{1} << (kRegionBits - kBlockBits);
  static constexpr uint64_t kCellsOfBlock = (uint64_t{1} << kBlockBits) / kGranule;
  static constexpr uint16_t kMark = 0x8000;

  // Set for a block that is not inside an allocation, if the last allocation that begins in it fills the next
  // block. The low bits are the cell at which it begins.
  static constexpr uint32_t kReachesOn = uint32_t{1} << 31;

  struct Region {
    std::atomic<uint16_t> cells[kCells];  // by granule: site and mark of the allocation that begins there
    // By block inside an allocation: how many blocks before it the allocation begins.
    std::atomic<uint32_t> blocks[kBlocks];
  };

  Region* region_at(uint64_t address) const noexcept;
  Region* make_region(uint64_t address) noexcept;
  std::atomic<uint16_t>* cell_of(uint64_t begin) const noexcept;
  bool find_in_block(uint64_t block, uint64_t last_cell, FoundAllocation& out) const noexcept;
  uint32_t blocks_back(uint64_t block) const noexcept;

  std::atomic<Region*>* regions_ = nullptr;
};

}  // namespace hpcrun
