#pragma once
// Does the work around all calls that enqueue a command.

#include "hpcrun/device/opencl/commands.h"
#include "hpcrun/guest/cancellation.h"
#include "hpcrun/guest/clock.h"

namespace hpcrun::opencl {

struct Work {
  TaskKind kind;
  uint64_t bytes;
  const char* name;  // of a kernel
};

struct WaitList {
  cl_uint count;
  const cl_event* events;
};

// Calls `call`, which enqueues, with the place for the event.
template <typename Call>
void enqueue(const void* function, cl_command_queue handle, const Work& work, bool blocks,
             const WaitList& list, cl_event* event, Call call) noexcept {
  Queue* const queue = queue_of(handle);
  DeviceCall device_call(blocks ? CallKind::Wait : CallKind::Short, function);
  if (!queue) return static_cast<void>(call(event));
  if (blocks) device_call.waits_for_queue(queue->index);

  // Must come before the command, which may end at once.
  Dependencies* const awaited = dependencies_on_others(*queue, list.count, list.events);
  Task* const task = submit(queue->index, work.kind, work.name, work.bytes);
  cl_event own = nullptr;
  cl_event* const used = event || !task ? event : &own;
  EnqueueTimes times{monotonic_ns(), 0};
  // If the thread is cancelled, it is not known whether the command was enqueued: it counts as incomplete.
  const bool succeeded = blocks ? unless_cancelled([&] { return call(used); },
                                                   [&] {
                                                     release(awaited);
                                                     complete(task, 0, 0);
                                                     device_call.close();
                                                   })
                                : call(used);
  times.after_ns = monotonic_ns();
  if (blocks) device_call.end();
  if (!succeeded || !task) {
    release(awaited);
    if (!succeeded) return discard(task);
  } else {
    if (event) next.clRetainEvent(*event);
    blocks ? finish_now(*queue, task, *used, times, awaited) : follow(*queue, task, *used, times, awaited);
  }
  if (blocks) poll(*queue);
}

}  // namespace hpcrun::opencl
