#pragma once
// Shares out the time in which a processor waited among the tasks that a device was at meanwhile (thesis,
// 2.6.2 and 2.6.3). Pure: no allocation, no state. Async-signal-safe. Times are in ns of any one clock.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Sorts and merges what overlaps or touches, in place; empty ones vanish. How many are left. O(n log n)
size_t unite(Interval* intervals, size_t count) noexcept;

// How much of `window` disjoint sorted intervals cover. O(log n + those inside)
uint64_t covered(const Interval* intervals, size_t count, Interval window) noexcept;

struct BlamedTask {
  Interval active;
  uint64_t blame = 0;  // out
};

// The parts of a wait; they add up to it.
struct WaitParts {
  uint64_t cause = 0;           // a task was active; the sum of all blames
  uint64_t launch_latency = 0;  // before the first one started
  uint64_t gap = 0;             // between tasks
  uint64_t wake_latency = 0;    // after the last one; all of a wait in which none was active

  uint64_t total() const noexcept { return cause + launch_latency + gap + wake_latency; }
};

// What blame_wait() needs for `count` tasks: twice as many, of any content.
struct TaskEdge {
  uint64_t time;
  uint64_t task;  // 2 * index, + 1 for the end
};

// Blames each task for the part of the wait in which it was active, 1/n of it where n were. Tasks may lie
// outside the wait. O(n log n)
WaitParts blame_wait(Interval wait, BlamedTask* tasks, size_t count, TaskEdge* scratch) noexcept;

// The same wait seen in pieces, one after the other: the parts of what was seen so far and of the next piece.
struct PiecedWait {
  WaitParts parts;   // of all pieces
  bool any = false;  // a task was active

  void add(const WaitParts& next) noexcept;
};

}  // namespace hpcrun
