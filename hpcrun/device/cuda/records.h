#pragma once
// From launches to the times at which they ran: the driver writes records of what has run into buffers of
// ours, and hands them back when they are full or asked for. Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/objects.h"

namespace hpcrun::cuda {

// Before anything is recorded. CUPTI_SUCCESS, or why not.
CUptiResult start_records() noexcept;

// The calling thread is about to submit this, by a call with this id; 0 when it is not measured. `outer_id`:
// of the call that contains it, or the same.
struct Submission {
  Queue* queue;
  TaskKind kind;
  const char* name;  // of a kernel; nullptr: the record tells
  Records records;
  uint32_t expected;
};
uint64_t submit_launch(const Submission& submission, uint32_t id, uint32_t outer_id) noexcept;

// Another call, in the one with the id `id`, does the work of the same launch.
void name_launch(uint64_t sequence, uint32_t id, uint32_t other_id) noexcept;

// The driver refused it.
void discard_launch(uint64_t sequence, uint32_t id) noexcept;

// The last launch so far; of a queue the newest under way that is not after `sequence` (nullptr: none).
uint64_t last_launch() noexcept;
const Task* task_under_way(const Queue& queue, uint64_t sequence) noexcept;

// A wait for a queue, or for all of a device's, has ended, that began when `sequence` was the last launch.
void cover_queue(Queue& queue, uint64_t sequence) noexcept;
void cover_device(const Device& device, uint64_t sequence) noexcept;

// Asks for the records of what has run, if there is anything to ask for; `force`: also of what has not ended.
void flush_records(bool force) noexcept;
// The same, when that was long ago and many are under way: programs that never wait.
void flush_at_times() noexcept;

// At the process's end, while the driver still works: asks for all records, and tells what was lost.
void finish_records() noexcept;

// In a forked child.
void forget_records() noexcept;

}  // namespace hpcrun::cuda
