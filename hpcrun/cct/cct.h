#pragma once
// Holds the calling context tree of one thread: inserts call paths, and adds metric values at their leaves.
// Nodes and values live in extents of the measurement file, so what was added survives a kill -9. The index
// that finds a node lives in the thread's arena. Used only by the sample path of the owning thread.
// Async-signal-safe.

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
  // Neither file nor arena is owned. Returns false if there is no memory or no room in the file.
  [[nodiscard]] bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // Returns the node of a call path given leaf first, and creates it if it is new. Returns kNoNode if the
  // file or memory is exhausted. Remembers the previous path: frames shared with it at the root end cost one
  // comparison each.
  NodeId insert(const FrameKey* frames, uint32_t depth) noexcept;

  // Returns the node with `frame` under the parent of `node`, and creates it if it is new. Returns kNoNode as
  // above.
  NodeId sibling(NodeId node, FrameKey frame) noexcept;

  // Adds `samples` with the sum `value` (in the metric's unit, see MetricInfo) to a node. Returns false if
  // they were dropped.
  bool add(NodeId node, uint16_t metric, uint64_t value, uint64_t samples = 1) noexcept;

  // Returns the cell that add() adds to, so that other code can add to it atomically. Valid as long as the
  // tree. Returns nullptr if there is no room.
  ValueCell* cell(NodeId node, uint16_t metric) noexcept;

  // Returns the cell that records a wait in progress in this context (kWaitingMetric in format.h). Valid as
  // long as the tree. Returns nullptr if there is no room.
  ValueCell* wait_cell(NodeId node, uint16_t metric) noexcept;

  // Checksums the last extents. Must be the last call: nothing can be added afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

// Records the trace of one thread: the current context over time. Delta-coded, at most 12 bytes per sample.
class Trace {
 public:
  [[nodiscard]] bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // `time_ns`: of CLOCK_MONOTONIC, not decreasing. Returns false if the sample was dropped.
  bool append(uint64_t time_ns, NodeId node) noexcept;

  // Records that nothing ran on this thread from the last record to time_ns (sampling was stopped, or the
  // thread slept under a CPU clock).
  bool append_gap(uint64_t time_ns) noexcept;

  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
