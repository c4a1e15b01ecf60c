#pragma once
// Tracks commands from the call that enqueues them until the engine has their times. We hold a reference to
// each command's event. Its end is reported by a callback on a thread of the driver, or found at the end of a
// wait, whichever is first. Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/opencl/dependencies.h"
#include "hpcrun/device/opencl/queues.h"

namespace hpcrun::opencl {

// Times of CLOCK_MONOTONIC at which the enqueuing call began and returned.
struct EnqueueTimes {
  uint64_t before_ns;
  uint64_t after_ns;
};

// Follows a command. Takes over a reference to the event, and the command's dependencies (nullptr: none on
// another queue).
void follow(Queue& queue, Task* task, cl_event event, const EnqueueTimes& times,
            Dependencies* awaited) noexcept;

// The same for a command that has already ended.
void finish_now(Queue& queue, Task* task, cl_event event, const EnqueueTimes& times,
                Dependencies* awaited) noexcept;

// Checks which of the queue's commands have ended.
void poll(Queue& queue) noexcept;

// Returns the queue of an event's command, or nullptr for the program's own events and for commands that are
// not followed.
Queue* queue_of_event(cl_event event) noexcept;

// True if the event's command is not known to have ended.
bool is_under_way(Queue& queue, cl_event event) noexcept;

// Returns the launch of such a command. Its queue is kNoQueue if it is not one, or if many were enqueued
// after it.
Launch launch_under_way(Queue& queue, cl_event event) noexcept;

// Adds to the call what must end before the event's command has. In a queue that runs commands in any order,
// that is the whole queue, since the event may depend on any command.
void add_scope(DeviceCall& call, Queue& queue, cl_event event) noexcept;

// Resets the state in a forked child.
void reset_commands_after_fork() noexcept;

}  // namespace hpcrun::opencl
