#pragma once
// Sums up where a thread waited for other threads and for how long, and which contexts it blames. The sums
// are in the measurement file, by the object waited for and the calling context. Belongs to the owning
// thread, whose handlers must not run during make(). A handler of the program that interrupts add() may call
// it. Async-signal-safe.

#include <cstdint>

#include "hpcrun/cct/cct.h"

namespace hpcrun {

struct LockSite {
  uint64_t object;
  uint32_t thread;  // index of the thread whose tree the node is in
  NodeId node;
  LockKind kind;
  LockRole role;
};

class LockCells {
 public:
  // Takes no space in the file before the first cell. Neither file nor arena is owned. Returns false if there
  // is no memory.
  [[nodiscard]] bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // Returns the cell of a site, or nullptr if make() has not created it yet.
  LockCell* find(const LockSite& site) noexcept;

  // Creates a cell that find() did not find. Returns nullptr if there is no room. Changes the structure: must
  // not be called during another change.
  LockCell* make(const LockSite& site) noexcept;

  // Adds one wait, or one release.
  static void add(LockCell& cell, uint64_t ns) noexcept;

  // Adds to each of the three sums.
  static void add(LockCell& cell, uint64_t waits, uint64_t total, uint64_t longest) noexcept;

  // Overwrites a cell's sums. A reader that interrupts this finds total 0; otherwise the three values belong
  // together.
  static void set(LockCell& cell, uint64_t waits, uint64_t total, uint64_t longest) noexcept;

  // Must be the last call: nothing can be added afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
