#pragma once
// Where a thread waited for others and for how long, and whom it blames for that: sums in the measurement
// file, by what was waited for and calling context. The owning thread's, whose handlers stay away while
// make() is at work; a handler of the program's that interrupts add() may call it. Async-signal-safe.

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
  // Takes no space in the file before the first cell. Neither file nor arena is owned. False when there is no
  // memory.
  bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // nullptr: not made yet.
  LockCell* find(const LockSite& site) noexcept;

  // Where find() found none. nullptr when there is no room. Changes the structure: not while it is changed.
  LockCell* make(const LockSite& site) noexcept;

  // A wait, or a release.
  static void add(LockCell& cell, uint64_t ns) noexcept;

  // To each of the three.
  static void add(LockCell& cell, uint64_t waits, uint64_t total, uint64_t longest) noexcept;

  // Stores what any cell has; what is read between belongs together but for `total`, which is 0 then.
  static void set(LockCell& cell, uint64_t waits, uint64_t total, uint64_t longest) noexcept;

  // Nothing may be added afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
