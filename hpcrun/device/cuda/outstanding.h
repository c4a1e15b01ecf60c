#pragma once
// What the program has launched and is not known to have ended, whichever way its times are found out.
// Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/objects.h"

namespace hpcrun::cuda {

// For those who find out when launches ran; held for a few loads and stores.
extern constinit SpinLock launch_lock;
extern constinit Launches launches;

// The calling thread is about to submit this, by a call with this id; 0 when it is not measured. `outer_id`:
// of the call that contains it, or the same.
struct Submission {
  Queue* queue;
  TaskKind kind;
  const char* name;  // of a kernel; nullptr: the record tells
  Records records;
  uint32_t expected;
  uint64_t bytes;  // of a copy, where its record does not tell
};
uint64_t submit_launch(const Submission& submission, uint32_t id, uint32_t outer_id) noexcept;

// Another call, in the one with the id `id`, does the work of the same launch.
void name_launch(uint64_t sequence, uint32_t id, uint32_t other_id) noexcept;

// The driver refused it.
void discard_launch(uint64_t sequence, uint32_t id) noexcept;

uint32_t launches_under_way() noexcept;

// The last launch so far; of a queue the newest under way that is not after `sequence` (nullptr: none).
uint64_t last_launch() noexcept;
const Task* task_under_way(const Queue& queue, uint64_t sequence) noexcept;

// A wait for a queue, or for all of a device's, has ended, that began when `sequence` was the last launch.
void cover_queue(Queue& queue, uint64_t sequence) noexcept;
void cover_device(const Device& device, uint64_t sequence) noexcept;

// In a forked child.
void forget_outstanding() noexcept;

}  // namespace hpcrun::cuda
