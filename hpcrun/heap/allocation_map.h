#pragma once
// Which allocation an address lies in, and where in the program it was made: a shadow of the address space in
// which every allocation leaves two bytes for its first 16, and large ones four for each whole 64 KiB of
// theirs, so that noting one is a store or two and looking one up reads at most 16 KiB.
//
// Everything may be called from any thread and in handlers, without locks. An allocation is noted after it
// was made and before anybody else knows its address, and forgotten before it is released; the map's memory
// is the kernel's, 1/8 of what the program allocates in small pieces.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Where allocations are made; the caller's numbers.
using SiteId = uint16_t;
constexpr SiteId kNoSite = 0;
constexpr SiteId kLastSite = 0x7fff;

struct FoundAllocation {
  uint64_t begin =
      0;  // rounded down to 16 bytes: allocators that place objects closer together are not told apart
  SiteId site = kNoSite;
  bool is_marked = false;
};

class AllocationMap {
 public:
  static constexpr uint64_t kGranule = 16;
  static constexpr uint64_t kAddressBits = 47;  // what Linux gives to programs that do not ask for more

  // Reserves the directory. False: no memory; nothing is then noted or found.
  bool start() noexcept;

  // In a forked child, which has none of the parent's memory for it: to be started anew.
  void forget() noexcept;

  // `site` is from 1 to kLastSite. False: there was no memory for the shadow, or the address is beyond
  // kAddressBits; it will not be found.
  bool add(uint64_t begin, uint64_t bytes, SiteId site) noexcept;

  // Does an allocation that is known begin there?
  bool holds(uint64_t begin) const noexcept;

  // True where the allocation was marked: somebody wants to know that it is gone. Unknown ones are none of
  // ours.
  bool remove(uint64_t begin) noexcept;

  // The allocation that begins nearest before the address; whether it reaches that far is the caller's to
  // say, by what it knows of the site. False: none is known.
  bool find(uint64_t address, FoundAllocation& out) const noexcept;

  // remove() will tell. False: it is gone already.
  bool mark(uint64_t begin) noexcept;

 private:
  static constexpr uint64_t kRegionBits = 26;  // as large as an arena of glibc's
  static constexpr uint64_t kBlockBits = 16;
  static constexpr uint64_t kRegions = uint64_t{1} << (kAddressBits - kRegionBits);
  static constexpr uint64_t kCells = (uint64_t{1} << kRegionBits) / kGranule;
  static constexpr uint64_t kBlocks = uint64_t{1} << (kRegionBits - kBlockBits);
  static constexpr uint64_t kCellsOfBlock = (uint64_t{1} << kBlockBits) / kGranule;
  static constexpr uint16_t kMark = 0x8000;

  // Of a block that is not inside an allocation: the last that begins there fills the next one, and begins at
  // the cell beside the bit.
  static constexpr uint32_t kReachesOn = uint32_t{1} << 31;

  struct Region {
    std::atomic<uint16_t> cells[kCells];  // of each granule: site and mark of what begins there
    // Of each block that is inside one allocation: how many back that begins.
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
