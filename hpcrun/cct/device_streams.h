#pragma once
// Traces of accelerators: what a device queue executed, and when a thread waited for devices. Like Trace in
// cct.h they go into extents of the measurement file, so that what was appended survives a kill -9. One
// caller at a time; async-signal-safe. What was not attached drops what is appended.

#include <cstdint>

#include "hpcrun/cct/cct.h"

namespace hpcrun {

// All in ns of CLOCK_MONOTONIC.
struct TaskTimes {
  uint64_t submit_ns;
  uint64_t start_ns;
  uint64_t end_ns;
};

class TaskStream {
 public:
  // `line`: the thread index of the queue. Neither file nor arena is owned. False when there is no memory.
  // `period_ns`: 0 to keep all tasks. Otherwise, while they come faster than one in a period, only those that
  // a sampler of that period would see are kept (task_sampling.h).
  bool attach(MeasurementFile& file, Arena& arena, uint32_t line, uint64_t period_ns = 0) noexcept;

  // A task that completed; in any order, though those in the order of their ends take least space. `node`: of
  // the queue's tree. `thread`: index of the thread that submitted it. Returns false when dropped for want of
  // space.
  bool append(const TaskTimes& times, NodeId node, uint32_t thread) noexcept;

  // Nothing may be appended afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

// The four parts of a wait, in ns; what is left of it was covered by tasks that it waited for.
struct WaitTimes {
  uint64_t begin_ns;  // CLOCK_MONOTONIC
  uint64_t end_ns;
  uint64_t launch_latency_ns;
  uint64_t gap_ns;
  uint64_t wake_latency_ns;
};

class WaitStream {
 public:
  // Takes no space before the first append. As above otherwise.
  bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // `node`: of the thread's tree, the context that waited.
  bool append(const WaitTimes& times, NodeId node) noexcept;
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
