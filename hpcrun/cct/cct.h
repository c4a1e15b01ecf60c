#pragma once
// The calling context tree of one thread: call paths in, metric values at their leaves. Nodes and values live
// in extents of the measurement file (so that what was added survives a kill -9); the index that finds a
// node lives in the thread's arena. Used by the sample path of the owning thread only. Async-signal-safe.

#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/measurement/writer.h"
#include "hpcrun/unwind/frame.h"

namespace hpcrun {

using NodeId = uint32_t;  // per thread, dense, in order of creation; 0 is the thread's root
constexpr NodeId kRootNode = 0;
constexpr NodeId kNoNode = UINT32_MAX;

class CallingContextTree {
 public:
  // Neither file nor arena is owned. Returns false when there is no memory or no room in the file.
  bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // The node of a call path given leaf first; created where it is new. kNoNode when the file or memory is
  // exhausted. Remembers the previous path: frames shared with it at the root end cost one comparison each.
  NodeId insert(const FrameKey* frames, uint32_t depth) noexcept;

  // The node that is called from where `node` is, in the place of it; created where it is new. kNoNode as
  // above.
  NodeId sibling(NodeId node, FrameKey frame) noexcept;

  // Adds `samples` with the sum `value` (in the metric's unit, see MetricInfo) to a node. Returns false when
  // dropped.
  bool add(NodeId node, uint16_t metric, uint64_t value, uint64_t samples = 1) noexcept;

  // Where what add() adds to a node is kept, for others to add to as well, atomically; it stays valid as long
  // as the tree. nullptr when there is no room.
  ValueCell* cell(NodeId node, uint16_t metric) noexcept;

  // Where a wait in this context that is under way is noted (kWaitingMetric in format.h); it stays valid as
  // long as the tree. nullptr when there is no room.
  ValueCell* wait_cell(NodeId node, uint16_t metric) noexcept;

  // Checksums the last extents; nothing may be added afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

// The trace of one thread: which context was current when. Delta-coded, at most 12 bytes a sample.
class Trace {
 public:
  bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // time in ns of CLOCK_MONOTONIC, not decreasing. Returns false when dropped.
  bool append(uint64_t time_ns, NodeId node) noexcept;

  // Nothing ran on this thread from the last record to time_ns (sampling was stopped, or the thread slept
  // under a CPU clock).
  bool append_gap(uint64_t time_ns) noexcept;

  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
