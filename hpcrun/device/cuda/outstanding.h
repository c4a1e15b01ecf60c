#pragma once
// Tracks what the program has launched and is not known to have ended, whether times come from records or
// events. Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/objects.h"

namespace hpcrun::cuda {

// For code that determines when launches ran; held for a few loads and stores.
extern constinit SpinLock launch_lock;
extern constinit Launches launches;

// Records that the calling thread is about to submit work with the call that has this id. Returns the
// launch's number, or 0 if it is not measured. `outer_id`: of the call that contains it, or the same.
struct Submission {
  Queue* queue;
  TaskKind kind;
  const char* name;  // of a kernel; nullptr: the record has it
  Records records;
  uint32_t expected;
  uint64_t bytes;  // of a copy, if its record does not have it
};
uint64_t submit_launch(const Submission& submission, uint32_t id, uint32_t outer_id) noexcept;

// Adds the id of another call, within the call `id`, that does the work of the same launch.
void name_launch(uint64_t sequence, uint32_t id, uint32_t other_id) noexcept;

// Removes a launch that the driver refused.
void discard_launch(uint64_t sequence, uint32_t id) noexcept;

uint32_t launches_under_way() noexcept;

// Return the last launch so far, and the newest task of a queue that is under way and not after `sequence`
// (nullptr: none).
uint64_t last_launch() noexcept;
const Task* task_under_way(const Queue& queue, uint64_t sequence) noexcept;

// Mark launches as run, after a wait for a queue, or for all queues of a device, that began when `sequence`
// was the last launch.
void cover_queue(Queue& queue, uint64_t sequence) noexcept;
void cover_device(const Device& device, uint64_t sequence) noexcept;

// Resets the state in a forked child.
void reset_outstanding_after_fork() noexcept;

}  // namespace hpcrun::cuda
