#include "hpcrun/device/cuda/outstanding.h"

#include <new>

#include "hpcrun/guest/clock.h"

namespace hpcrun::cuda {

constinit SpinLock launch_lock;
constinit Launches launches;

uint64_t submit_launch(const Submission& submission, uint32_t id, uint32_t outer_id) noexcept {
  Task* const task = submit(submission.queue->index, submission.kind, submission.name, submission.bytes);
  if (!task) return 0;
  {
    const Locked locked(launch_lock);
    Launch* const launch = launches.add(submission.queue->launches, submission.queue, task,
                                        submission.records, submission.expected);
    if (launch && launches.name(*launch, id)) {
      launches.name(*launch, outer_id);
      return launch->sequence;
    }
    if (launch) launches.remove(submission.queue->launches, *launch);
  }
  discard(task);
  return 0;
}

void name_launch(uint64_t sequence, uint32_t id, uint32_t other_id) noexcept {
  const Locked locked(launch_lock);
  Launch* const launch = launches.find(id);
  if (launch && launch->sequence == sequence) launches.name(*launch, other_id);
}

void discard_launch(uint64_t sequence, uint32_t id) noexcept {
  Task* task = nullptr;
  {
    const Locked locked(launch_lock);
    Launch* const launch = launches.find(id);
    if (!launch || launch->sequence != sequence) return;
    task = launch->task;
    launches.remove(launch->queue->launches, *launch);
  }
  discard(task);
}

uint32_t launches_under_way() noexcept {
  const Locked locked(launch_lock);
  return launches.count();
}

uint64_t last_launch() noexcept {
  const Locked locked(launch_lock);
  return launches.last_sequence();
}

const Task* task_under_way(const Queue& queue, uint64_t sequence) noexcept {
  const Locked locked(launch_lock);
  for (const Launch* launch = queue.launches.last; launch; launch = launch->previous)
    if (launch->sequence <= sequence) return launch->task;
  return nullptr;
}

void cover_queue(Queue& queue, uint64_t sequence) noexcept {
  const Locked locked(launch_lock);
  Launches::cover(queue.launches, sequence, monotonic_ns());
}

void cover_device(const Device& device, uint64_t sequence) noexcept {
  for (Queue* queue = first_queue(); queue; queue = queue->next)
    if (queue->device == &device) cover_queue(*queue, sequence);
}

void reset_outstanding_after_fork() noexcept {
  new (&launch_lock) SpinLock;
  launches.reset_after_fork();
}

}  // namespace hpcrun::cuda
