#pragma once
// Finds and makes the cells of a stream that are updated in place (LockCells, WasteCells): a hash table in
// the thread's arena of cells in the measurement file. Belongs to the owning thread, whose handlers must not
// run during make(). Async-signal-safe.

#include <cstdint>
#include <new>

#include "hpcrun/cct/cct.h"
#include "hpcrun/cct/extent_stream.h"
#include "hpcrun/cct/segments.h"

namespace hpcrun {

// `Cell` is the record of the stream. The caller computes hashes, and compares cells with what it searches.
template <typename Cell>
class CellTable {
 public:
  // Limits the disk space of a program that never stops needing new cells.
  static constexpr uint32_t kMaxCells = 256 * 1024;

  // Takes no space in the file before the first cell. Neither file nor arena is owned.
  CellTable(MeasurementFile& file, Arena& arena, StreamKind kind, uint32_t thread) noexcept
      : file_(file), arena_(arena) {
    stream_.attach(file, kind, thread, kMaxExtent);
  }

  // Returns the cell for which `matches` is true among those with this hash, or nullptr. A handler that
  // interrupts make() may call it.
  template <typename Matches>
  Cell* find(uint64_t hash, Matches matches) noexcept {
    if (sealed_) return nullptr;
    for (uint32_t at = chains_[hash % kChains]; at != 0;) {
      const Link& link = links_[at - 1];
      if (matches(*link.cell)) return link.cell;
      at = link.next;
    }
    return nullptr;
  }

  // Copies `cell` into the file. Returns nullptr if there is no room, or after seal(). Must not be called
  // during another change.
  Cell* make(uint64_t hash, const Cell& cell) noexcept {
    if (sealed_ || count_ == kMaxCells || !links_.ensure(arena_, count_)) return nullptr;
    if (!stream_.has_room(sizeof(Cell))) {
      if (!full_.ensure(arena_, full_count_)) return nullptr;
      MappedExtent full;
      if (!stream_.advance(0, full)) return nullptr;
      if (full.header != nullptr) full_[full_count_++] = full;
    }
    auto* const made = new (stream_.next()) Cell(cell);
    stream_.publish(sizeof(Cell));
    uint32_t& first = chains_[hash % kChains];
    links_[count_] = {made, first};
    first = ++count_;
    return made;
  }

  // Must be the last call that changes anything.
  void seal() noexcept {
    if (sealed_) return;
    sealed_ = true;
    for (uint32_t i = 0; i < full_count_; ++i) file_.seal_and_unmap(full_[i]);
    stream_.close();
  }

 private:
  static constexpr size_t kMaxExtent = 64 * 1024;
  static constexpr uint32_t kChains = 2048;

  struct Link {
    Cell* cell;
    uint32_t next;  // 1 + index, 0 ends the chain
  };

  MeasurementFile& file_;
  Arena& arena_;
  ExtentStream stream_;
  SegmentedArray<Link, 6> links_;
  uint32_t count_ = 0;
  SegmentedArray<MappedExtent, 3> full_;  // stay mapped: their cells still change
  uint32_t full_count_ = 0;
  bool sealed_ = false;
  uint32_t chains_[kChains] = {};
};

}  // namespace hpcrun
