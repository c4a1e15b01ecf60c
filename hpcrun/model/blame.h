#pragma once
// Blames the tasks that a device executed for the time in which a processor waited meanwhile (Chabbi's
// thesis, sections 2.6.2 and 2.6.3). Pure: no allocation, no state. Async-signal-safe. Times are in ns of any
// one clock.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Sorts the intervals, merges those that overlap or touch, and removes empty ones, in place. Returns the
// number left. O(n log n)
size_t unite(Interval* intervals, size_t count) noexcept;

// Returns how much of `window` is covered by disjoint sorted intervals. O(log n + number inside)
uint64_t covered(const Interval* intervals, size_t count, Interval window) noexcept;

struct BlamedTask {
  Interval active;
  uint64_t blame = 0;  // output
};

// The parts of a wait; their sum is its length.
struct WaitParts {
  uint64_t cause = 0;           // a task was active; the sum of all blames
  uint64_t launch_latency = 0;  // before the first task started
  uint64_t gap = 0;             // between tasks
  uint64_t wake_latency = 0;    // after the last task; the whole wait if no task was active

  [[nodiscard]] uint64_t total() const noexcept { return cause + launch_latency + gap + wake_latency; }
};

// Working memory of blame_wait(): two per task, with any content.
struct TaskEdge {
  uint64_t time;
  uint64_t task;  // 2 * index, + 1 for its end
};

// Blames each task for the part of the wait in which it was active, 1/n of it while n tasks were. Tasks may
// lie outside the wait. O(n log n)
WaitParts blame_wait(Interval wait, BlamedTask* tasks, size_t count, TaskEdge* scratch) noexcept;

// Combines the parts of a wait that is observed in consecutive pieces.
struct PiecedWait {
  WaitParts parts;   // of all pieces
  bool any = false;  // a task was active in one of them

  void add(const WaitParts& next) noexcept;
};

}  // namespace hpcrun
