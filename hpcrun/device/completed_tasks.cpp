#include "hpcrun/device/completed_tasks.h"

#include <algorithm>

namespace hpcrun {

namespace {

// Merges two lists that are sorted by end time.
Task* merged(Task* a, Task* b) noexcept {
  Task* first = nullptr;
  Task** link = &first;
  while (a && b) {
    Task*& earlier = b->end < a->end ? b : a;
    *link = earlier;
    link = &earlier->next;
    earlier = earlier->next;
  }
  *link = a ? a : b;
  return first;
}

// Sorts a list. O(n log n), without recursion: runs[i] holds 2^i tasks or none.
Task* sorted(Task* list) noexcept {
  constexpr size_t kRuns = 32;
  Task* runs[kRuns] = {};
  while (list) {
    Task* run = list;
    list = list->next;
    run->next = nullptr;
    size_t i = 0;
    for (; i + 1 < kRuns && runs[i]; ++i) {
      run = merged(runs[i], run);
      runs[i] = nullptr;
    }
    runs[i] = merged(runs[i], run);
  }
  Task* all = nullptr;
  for (Task* run : runs) all = merged(run, all);
  return all;
}

}  // namespace

// Sorts in the tasks that were added. They usually ended after all others; then only they are visited.
void CompletedTasks::put_in_order() noexcept {
  if (!fresh_) return;
  Task* added = sorted(fresh_);
  fresh_ = nullptr;
  const Task* const first_added = added;
  Task* before = last_;
  while (before && before->end > added->end) before = before->previous;
  Task* last_added = nullptr;
  while (added) {
    Task* const next_added = added->next;
    for (Task* after = before ? before->next : first_; after && after->end <= added->end; after = after->next)
      before = after;
    added->previous = before;
    added->next = before ? before->next : first_;
    (before ? before->next : first_) = added;
    (added->next ? added->next->previous : last_) = added;
    before = last_added = added;
    added = next_added;
  }
  renew_earliest_starts(last_added, first_added);
}

// Updates from the last task that was added back to the first, and further back as long as something changes.
void CompletedTasks::renew_earliest_starts(Task* last_added, const Task* first_added) noexcept {
  bool is_before = false;
  for (Task* task = last_added; task; task = task->previous) {
    const uint64_t earliest = task->next ? std::min(task->start, task->next->earliest_start) : task->start;
    if (is_before && task->earliest_start == earliest) return;
    task->earliest_start = earliest;
    is_before |= task == first_added;
  }
}

// Searches from both ends at once: waits are for recent tasks, or for the oldest of a backlog.
Task* CompletedTasks::first_ending_after(uint64_t time) const noexcept {
  Task* front = first_;
  Task* back = last_;
  while (front && back) {
    if (front->end > time) return front;
    if (back->end <= time) return back->next;
    front = front->next;
    back = back->previous;
  }
  return nullptr;
}

Task* CompletedTasks::take_ended_by(uint64_t time) noexcept {
  put_in_order();
  Task* const taken = first_;
  Task* last_taken = nullptr;
  while (first_ && first_->end <= time) {
    last_taken = first_;
    first_ = first_->next;
    --count_;
  }
  if (!last_taken) return nullptr;
  last_taken->next = nullptr;
  (first_ ? first_->previous : last_) = nullptr;
  return taken;
}

}  // namespace hpcrun
