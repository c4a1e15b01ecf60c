#include "hpcrun/heap/allocation_map.h"

#include <algorithm>
#include <cassert>

#include "hpcrun/guest/private_mapping.h"

namespace hpcrun {

bool AllocationMap::start() noexcept {
  if (!regions_) regions_ = map_private<std::atomic<Region*>>(kRegions);
  return regions_;
}

void AllocationMap::reset_after_fork() noexcept {
  regions_ = nullptr;
}

AllocationMap::Region* AllocationMap::region_at(uint64_t address) const noexcept {
  if (!regions_ || address >> kAddressBits) return nullptr;
  return regions_[address >> kRegionBits].load(std::memory_order_acquire);
}

AllocationMap::Region* AllocationMap::make_region(uint64_t address) noexcept {
  if (!regions_ || address >> kAddressBits) return nullptr;
  std::atomic<Region*>& place = regions_[address >> kRegionBits];
  Region* region = place.load(std::memory_order_acquire);
  if (region) [[likely]]
    return region;
  auto* const made = map_private<Region>(1);
  if (!made) return nullptr;
  if (place.compare_exchange_strong(region, made, std::memory_order_acq_rel)) return made;
  unmap_own_memory(made, sizeof(Region));
  return region;
}

std::atomic<uint16_t>* AllocationMap::cell_of(uint64_t begin) const noexcept {
  Region* const region = region_at(begin);
  return region ? &region->cells[begin / kGranule % kCells] : nullptr;
}

bool AllocationMap::add(uint64_t begin, uint64_t bytes, SiteId site) noexcept {
  assert(site != kNoSite && site <= kLastSite);
  Region* region = make_region(begin);
  if (!region) return false;
  region->cells[begin / kGranule % kCells].store(site, std::memory_order_relaxed);
  if (bytes < uint64_t{1} << kBlockBits) [[likely]]
    return true;
  const uint64_t first = begin >> kBlockBits;
  const uint64_t end = (begin + bytes) >> kBlockBits;  // the last block is only partly inside
  if (first + 1 < end)
    region->blocks[first % kBlocks].store(
        kReachesOn | static_cast<uint32_t>(begin / kGranule % kCellsOfBlock), std::memory_order_relaxed);
  for (uint64_t block = first + 1; block < end; ++block) {
    if (block % kBlocks == 0 && !(region = make_region(block << kBlockBits))) return false;
    region->blocks[block % kBlocks].store(static_cast<uint32_t>(block - first), std::memory_order_relaxed);
  }
  return true;
}

bool AllocationMap::holds(uint64_t begin) const noexcept {
  const Region* const region = region_at(begin);
  return region && region->cells[begin / kGranule % kCells].load(std::memory_order_relaxed);
}

bool AllocationMap::remove(uint64_t begin) noexcept {
  Region* const region = region_at(begin);
  if (!region) return false;
  std::atomic<uint16_t>& cell = region->cells[begin / kGranule % kCells];
  const uint16_t before = cell.load(std::memory_order_relaxed);
  if (!before) return false;
  cell.store(0, std::memory_order_relaxed);
  const uint64_t first = begin >> kBlockBits;
  std::atomic<uint32_t>& first_block = region->blocks[first % kBlocks];
  if (first_block.load(std::memory_order_relaxed) == (kReachesOn | begin / kGranule % kCellsOfBlock)) {
    first_block.store(0, std::memory_order_relaxed);
    for (uint64_t block = first + 1; blocks_back(block) == block - first; ++block)
      region_at(block << kBlockBits)->blocks[block % kBlocks].store(0, std::memory_order_relaxed);
  }
  return before & kMark;
}

uint32_t AllocationMap::blocks_back(uint64_t block) const noexcept {
  const Region* const region = region_at(block << kBlockBits);
  const uint32_t back = region ? region->blocks[block % kBlocks].load(std::memory_order_relaxed) : 0;
  return back & kReachesOn ? 0 : back;
}

// Finds the last allocation that begins in the block, at or before that cell.
bool AllocationMap::find_in_block(uint64_t block, uint64_t last_cell, FoundAllocation& out) const noexcept {
  const Region* const region = region_at(block << kBlockBits);
  if (!region) return false;
  const std::atomic<uint16_t>* const cells = &region->cells[(block << kBlockBits) / kGranule % kCells];
  for (uint64_t cell = last_cell + 1; cell-- > 0;) {
    const uint16_t value = cells[cell].load(std::memory_order_relaxed);
    if (!value) continue;
    out.begin = (block << kBlockBits) + cell * kGranule;
    out.site = value & kLastSite;
    out.is_marked = value & kMark;
    return true;
  }
  return false;
}

// A block inside an allocation has the distance to its start. A block that is not inside one, and has no
// start before the address, is the end of an allocation that begins in the previous block, or that contains
// it.
bool AllocationMap::find(uint64_t address, FoundAllocation& out) const noexcept {
  const uint64_t block = address >> kBlockBits;
  if (const uint32_t back = blocks_back(block)) return find_in_block(block - back, kCellsOfBlock - 1, out);
  if (find_in_block(block, address / kGranule % kCellsOfBlock, out)) return true;
  if (block == 0) return false;
  const uint64_t before = block - 1;
  return find_in_block(before - blocks_back(before), kCellsOfBlock - 1, out);
}

bool AllocationMap::mark(uint64_t begin) noexcept {
  std::atomic<uint16_t>* const cell = cell_of(begin);
  if (!cell) return false;
  uint16_t value = cell->load(std::memory_order_relaxed);
  while (value)
    if (cell->compare_exchange_weak(value, value | kMark, std::memory_order_relaxed)) return true;
  return false;
}

}  // namespace hpcrun
