#pragma once
// Holds the completed tasks of a schedule that a wait may still overlap, by end time. Devices report tasks in
// any order and with any delay. The cost per task is the same with a backlog of hundreds of thousands. One
// caller at a time; allocates nothing.

#include <cstddef>
#include <cstdint>

#include "hpcrun/device/engine.h"
#include "hpcrun/measurement/format.h"
#include "hpcrun/model/blame.h"

namespace hpcrun {

struct Task {
  Task* next;  // in the list of tasks under way, by submission, or of completed ones
  Task* previous;
  uint64_t serial;  // by submission, from 1; unique to the launch
  uint64_t submit;
  uint64_t start;
  uint64_t end;
  uint64_t earliest_start;  // if completed: of this task and all that ended later
  ValueCell* idle_cause;    // CPU_IDLE_CAUSE of the launch context
  uint64_t bytes;
  uint32_t node;    // of the queue's tree
  uint32_t thread;  // index of the thread that submitted it
  DeviceIndex device;
  QueueIndex queue;
  TaskKind kind;
  bool under_way;
  bool context_known;  // the launch context was found without a walk
};

class CompletedTasks {
 public:
  // Adds a completed task. Tasks are not owned; next, previous and earliest_start are used here.
  void add(Task* task) noexcept {
    task->next = fresh_;
    fresh_ = task;
    ++count_;
  }

  size_t count() const noexcept { return count_; }

  // Removes the tasks that ended at or before `time`. Returns a list linked by Task::next, or nullptr.
  Task* take_ended_by(uint64_t time) noexcept;

  // Calls use(Task*) for each task that was active in the window.
  template <typename Use>
  void for_each_in(Interval window, Use use) noexcept {
    put_in_order();
    for (Task* task = first_ending_after(window.begin); task && task->earliest_start < window.end;
         task = task->next)
      if (task->start < window.end) use(task);
  }

 private:
  void put_in_order() noexcept;
  Task* first_ending_after(uint64_t time) const noexcept;
  void renew_earliest_starts(Task* last_added, const Task* first_added) noexcept;

  Task* fresh_ = nullptr;  // added since put_in_order(), unsorted
  Task* first_ = nullptr;  // all others, by end time
  Task* last_ = nullptr;
  size_t count_ = 0;
};

}  // namespace hpcrun
