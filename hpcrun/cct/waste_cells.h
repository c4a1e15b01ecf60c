#pragma once
// Sums up pairs of accesses to the same memory of which one was wasted, by kind and calling contexts, in the
// measurement file. Belongs to the owning thread, whose handlers must not run during make().
// Async-signal-safe.

#include <cstdint>

#include "hpcrun/cct/cct.h"

namespace hpcrun {

// Identifies a cell (WasteCell in format.h explains the fields).
struct WasteSite {
  uint32_t first_node;
  uint32_t first_thread;
  uint32_t second_node;  // 0: a total
  uint32_t second_thread;
  WasteKind kind;
  uint8_t flags;  // kWaste...
};

// The memory of a pair's first occurrence. All 0: not known, or a total.
struct WastedMemory {
  uint32_t object_node = 0;
  uint32_t object_thread = 0;
  uint64_t address = 0;
  uint32_t access_bytes = 0;
};

class WasteCells {
 public:
  // Takes no space in the file before the first cell. Neither file nor arena is owned. Returns false if there
  // is no memory.
  [[nodiscard]] bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // Returns the cell of a site, or nullptr if make() has not created it yet.
  WasteCell* find(const WasteSite& site) noexcept;

  // Creates a cell that find() did not find. Returns nullptr if there is no room. Changes the structure: must
  // not be called during another change.
  WasteCell* make(const WasteSite& site, const WastedMemory& memory) noexcept;

  // Adds `count` accesses, `bytes` in all.
  static void add(WasteCell& cell, uint64_t count, uint64_t bytes) noexcept;

  // Must be the last call: nothing can be added afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
