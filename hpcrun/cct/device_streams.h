#pragma once
// Records traces of accelerators: the tasks that a device queue executed, and the waits of threads for
// devices. Like Trace in cct.h, they go into extents of the measurement file, so what was appended survives a
// kill -9. One caller at a time; async-signal-safe. Before attach(), append() drops everything.

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
  // `line`: the thread index of the queue. `period_ns`: 0 to keep all tasks. Otherwise, while more than one
  // task per period arrives, only the tasks that a sampler of that period would see are kept
  // (task_sampling.h). Neither file nor arena is owned. Returns false if there is no memory.
  [[nodiscard]] bool attach(MeasurementFile& file, Arena& arena, uint32_t line,
                            uint64_t period_ns = 0) noexcept;

  // Appends a completed task. Tasks may come in any order; ordered by end they take the least space. `node`:
  // of the queue's tree. `thread`: index of the thread that submitted it. Returns false if there was no space
  // and the task was dropped.
  bool append(const TaskTimes& times, NodeId node, uint32_t thread) noexcept;

  // Must be the last call: nothing can be appended afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

// The parts of a wait that no task covered, in ns. The rest was covered by tasks that the thread waited for.
struct WaitTimes {
  uint64_t begin_ns;  // CLOCK_MONOTONIC
  uint64_t end_ns;
  uint64_t launch_latency_ns;
  uint64_t gap_ns;
  uint64_t wake_latency_ns;
};

class WaitStream {
 public:
  // Takes no space before the first append. Otherwise as TaskStream::attach().
  [[nodiscard]] bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // `node`: the context that waited, in the thread's tree.
  bool append(const WaitTimes& times, NodeId node) noexcept;
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
