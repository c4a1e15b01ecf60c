#pragma once
// Commands on their way: from the call that enqueues one until the engine has its times. Each has an event of
// which we hold a reference; its end is learnt by a callback on a thread of the driver's, or at the end of a
// wait, whichever is first. Thread-safe; not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/opencl/dependencies.h"
#include "hpcrun/device/opencl/queues.h"

namespace hpcrun::opencl {

// The call that enqueued a command began and returned at these times of CLOCK_MONOTONIC.
struct EnqueueTimes {
  uint64_t before_ns;
  uint64_t after_ns;
};

// Takes over a reference of the event's, and what the command waits for (nullptr: nothing of another queue).
void follow(Queue& queue, Task* task, cl_event event, const EnqueueTimes& times,
            Dependencies* awaited) noexcept;

// The same for a command that has ended already.
void finish_now(Queue& queue, Task* task, cl_event event, const EnqueueTimes& times,
                Dependencies* awaited) noexcept;

// Looks which of the queue's commands have ended.
void poll(Queue& queue) noexcept;

// The queue of an event's command; nullptr for the program's own events, and for what we do not follow.
Queue* queue_of_event(cl_event event) noexcept;

// Is the event that of a command whose end is not known yet?
bool is_under_way(Queue& queue, cl_event event) noexcept;

// Where such a command was launched; its queue is kNoQueue if it is none, or many were enqueued after it.
Launch launch_under_way(Queue& queue, cl_event event) noexcept;

// Adds to the call what has to end before the event's command has: in a queue that runs commands in any
// order, all of the queue's, since the event may depend on any of them.
void add_scope(DeviceCall& call, Queue& queue, cl_event event) noexcept;

// In a forked child.
void forget_commands() noexcept;

}  // namespace hpcrun::opencl
