#include "hpcrun/model/blame.h"

#include <algorithm>
#include <cassert>

namespace hpcrun {
namespace {

// Blame of an active task, summed since the wait began: a task's blame is the increase while it was active.
// In units of 2^-10 ns: waits may last half a year.
constexpr unsigned kFractionBits = 10;

// Makes the edges of the tasks, clipped to the wait. Returns their number; tasks that do not overlap the wait
// have none.
size_t make_edges(Interval wait, BlamedTask* tasks, size_t count, TaskEdge* edges) noexcept {
  size_t made = 0;
  for (size_t i = 0; i < count; ++i) {
    tasks[i].blame = 0;
    const uint64_t begin = std::max(tasks[i].active.begin, wait.begin);
    const uint64_t end = std::min(tasks[i].active.end, wait.end);
    if (begin >= end) continue;
    edges[made++] = {begin, 2 * i};
    edges[made++] = {end, 2 * i + 1};
  }
  return made;
}

bool starts(const TaskEdge& edge) noexcept {
  return !(edge.task & 1);
}

// Distributes the time lost to rounding, usually less than one nanosecond per task.
void share_rest(uint64_t rest, BlamedTask* tasks, const TaskEdge* edges, size_t count) noexcept {
  assert(rest == 0 || count > 0);
  for (size_t i = 0; rest > 0; i = (i + 1) % count) {
    if (!starts(edges[i])) continue;
    ++tasks[edges[i].task / 2].blame;
    --rest;
  }
}

}  // namespace

size_t unite(Interval* intervals, size_t count) noexcept {
  std::sort(intervals, intervals + count,
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (intervals[i].begin >= intervals[i].end) continue;
    if (kept && intervals[i].begin <= intervals[kept - 1].end)
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, intervals[i].end);
    else
      intervals[kept++] = intervals[i];
  }
  return kept;
}

uint64_t covered(const Interval* intervals, size_t count, Interval window) noexcept {
  const Interval* const end = intervals + count;
  const Interval* at = std::partition_point(
      intervals, end, [&](const Interval& interval) { return interval.end <= window.begin; });
  uint64_t sum = 0;
  for (; at != end && at->begin < window.end; ++at)
    sum += std::min(at->end, window.end) - std::max(at->begin, window.begin);
  return sum;
}

WaitParts blame_wait(Interval wait, BlamedTask* tasks, size_t count, TaskEdge* scratch) noexcept {
  WaitParts parts;
  const size_t edges = make_edges(wait, tasks, count, scratch);
  std::sort(scratch, scratch + edges, [](const TaskEdge& a, const TaskEdge& b) { return a.time < b.time; });
  uint64_t last = wait.begin;
  uint64_t active = 0;
  uint64_t shared = 0;  // in units of 2^-kFractionBits ns
  bool any = false;
  for (size_t i = 0; i < edges; ++i) {
    const TaskEdge& edge = scratch[i];
    const uint64_t length = edge.time - last;
    if (active) {
      parts.cause += length;
      shared += (length << kFractionBits) / active;
    } else {
      (any ? parts.gap : parts.launch_latency) += length;
    }
    last = edge.time;
    // Until a task ends, its blame holds the sum at its start.
    uint64_t& blame = tasks[edge.task / 2].blame;
    blame = shared - blame;
    starts(edge) ? ++active : --active;
    any = true;
  }
  parts.wake_latency = std::max(wait.begin, wait.end) - last;
  uint64_t blamed = 0;
  for (size_t i = 0; i < edges; ++i) {
    if (starts(scratch[i])) continue;
    uint64_t& blame = tasks[scratch[i].task / 2].blame;
    blame >>= kFractionBits;
    blamed += blame;
  }
  share_rest(parts.cause - blamed, tasks, scratch, edges);
  return parts;
}

void PiecedWait::add(const WaitParts& next) noexcept {
  if (!next.cause) {
    parts.wake_latency += next.total();
    return;
  }
  // The wake latency so far turns out to be before the first task, or between two.
  (any ? parts.gap : parts.launch_latency) += parts.wake_latency + next.launch_latency;
  parts.cause += next.cause;
  parts.gap += next.gap;
  parts.wake_latency = next.wake_latency;
  any = true;
}

}  // namespace hpcrun
