#include "hpcrun/device/engine.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "hpcrun/device/context.h"
#include "hpcrun/device/engine_state.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/measurement/device_metrics.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/unwind/capture.h"

namespace hpcrun {

namespace {

// Names of copies, by kind.
constexpr const char* kCopyNames[] = {nullptr, "[copy to device]", "[copy from device]", "[copy on device]",
                                      "[fill]"};

uint16_t metric(DeviceMetric id) noexcept {
  return static_cast<uint16_t>(id);
}

const char* text(const char* string) noexcept {
  return string ? string : "";
}

bool begin_track(Track& track, DeviceIndex device) noexcept {
  track.index = process_state.thread_count.fetch_add(1, std::memory_order_relaxed);
  track.device = device;
  return track.tree.attach(process_state.file, engine.arena, track.index);
}

// Returns the frame for what a device executes, or 0 if there is no memory. `kept`: a name that stays valid.
FrameKey symbol(const char* name, const char*& kept) noexcept {
  bool is_new = false;
  const uint32_t number = engine.symbols.number_of(engine.arena, name, is_new, &kept);
  if (number == Names::kNone) return 0;
  const FrameKey frame = make_frame(kModuleDevice, number);
  if (is_new) process_state.file.write_symbol(frame, name);
  return frame;
}

// Returns the launch's node under the path of the thread, which must be busy; without a path if the thread is
// not measured.
NodeId launch_node(Track& track, ThreadState* thread, const ucontext_t& here, const char* name) noexcept {
  const char* kept = nullptr;
  const FrameKey executed = symbol(name, kept);
  if (!executed) return kNoNode;
  DeviceThread* const device = thread ? device_thread(*thread, monotonic_ns()) : nullptr;
  LaunchContexts* const contexts = device ? launch_contexts(*device) : nullptr;
  if (!contexts) return track.tree.insert(&executed, 1);
  const Stack stack = context_of_call(*thread, here, thread->device_function, contexts->record());
  stack.frames[-1] = executed;
  const NodeId node = track.tree.insert(stack.frames - 1, stack.depth + 1);
  if (node != kNoNode && !device->submitting)
    contexts->add(thread->arena, {thread->device_function, track.index, kept}, node);
  return node;
}

// Submits what was launched from the same path before, which needs neither a walk nor the lock. `node`: of
// the launch, if it is known.
Task* submit_at_once(ThreadState& thread, const ucontext_t& here, QueueIndex queue, TaskKind kind,
                     const char* name, uint64_t bytes, NodeId& node) noexcept {
  DeviceThread* const device = device_slot.of(thread);
  if (!device || !device->contexts || device->submitting) return nullptr;
  const Submitting submitting(*device);
  const Track& track = *engine.queues[queue];
  node = device->contexts->find(origin_of(here), {thread.device_function, track.index, name});
  if (node == kNoNode) return nullptr;
  return engine.schedule.submit_at_once(device->waiter.reserve, track.device, queue, kind, monotonic_ns(),
                                        [&](Task& task) {
                                          task.node = node;
                                          task.thread = thread.index;
                                          task.bytes = bytes;
                                          task.context_known = true;
                                        });
}

// Informs other processes if there is no work left.
void tell_others(DeviceIndex device) noexcept {
  if (engine.schedule.under_way(device)) return;
  engine.shared[device].end_work(engine.schedule.last_end(device));
  write_under_way(device);
}

void refill(const ThreadState& thread) noexcept {
  DeviceThread* const device = device_slot.of(thread);
  if (device && !device->submitting && !device->waiter.reserve.first)
    engine.schedule.fill(device->waiter.reserve);
}

DeviceIndex make_device(const DeviceInfo& info, uint64_t now) noexcept {
  if (engine.device_count == kMaxDevices) return kNoDevice;
  const DeviceIndex index = engine.device_count;
  Track& track = engine.device_tracks[index];
  if (!begin_track(track, index)) return kNoDevice;
  if (index == 0) {
    engine.schedule.attach(engine.arena);
    announce(kDeviceMetrics, process_state.file);
  }
  ++engine.device_count;
  note_pauses(now);
  mark_process();
  process_state.file.write_device(
      {index, track.index, now, text(info.name), text(info.uuid), text(info.api), text(info.driver)});
  engine.schedule.add_device(index, now);
  engine.shared[index].join(text(info.uuid));
  device_activity.store(&engine.schedule.activity, std::memory_order_release);
  // The time of the thread that uses the device first counts from here too.
  if (ThreadState* const thread = this_thread(); thread && !thread->busy) {
    const ThreadBusy busy(*thread);
    device_thread(*thread, now);
  }
  switch_on(device_slot);
  return index;
}

void account(Track& track, const Task& task, uint64_t overlap) noexcept {
  const uint64_t length = task.end - task.start;
  track.tree.add(task.node, metric(DeviceMetric::GpuExecutionTime), length);
  track.tree.add(task.node, metric(DeviceMetric::Overlap), overlap);
  if (task.kind != TaskKind::Kernel) track.tree.add(task.node, metric(DeviceMetric::CopyTime), length);
  if (task.kind == TaskKind::CopyToDevice)
    track.tree.add(task.node, metric(DeviceMetric::BytesToDevice), task.bytes);
  if (task.kind == TaskKind::CopyFromDevice)
    track.tree.add(task.node, metric(DeviceMetric::BytesFromDevice), task.bytes);
  track.tasks.append({task.submit, task.start, task.end}, task.node, task.thread);
}

}  // namespace

DeviceIndex add_device(const DeviceInfo& info) noexcept {
  stop_waiting_for_first_sample();
  if (!is_sampling_here()) return kNoDevice;
  const EngineLock lock;
  if (engine.ended) return kNoDevice;
  bool is_new = false;
  const uint32_t number = engine.devices.number_of(engine.arena, text(info.uuid), is_new);
  if (number == Names::kNone) return kNoDevice;
  if (!is_new) return number < engine.device_count ? static_cast<DeviceIndex>(number) : kNoDevice;
  return make_device(info, monotonic_ns());
}

QueueIndex add_queue(DeviceIndex device, const char* name, bool in_order) noexcept {
  if (!is_sampling_here()) return kNoQueue;
  const EngineLock lock;
  if (engine.ended || device >= engine.device_count || engine.queue_count == kMaxQueues) return kNoQueue;
  void* memory = engine.arena.allocate(sizeof(Track));
  if (!memory) return kNoQueue;
  Track* const track = new (memory) Track;
  if (!begin_track(*track, device)) return kNoQueue;
  track->in_order = in_order;
  if (process_state.config.trace)
    (void)track->tasks.attach(process_state.file, engine.arena, track->index,
                              process_state.config.device_trace_period_ns);  // without memory: no trace
  process_state.file.write_queue(track->index, device, monotonic_ns(), text(name));
  std::atomic_ref(engine.queues[engine.queue_count]).store(track, std::memory_order_release);
  return engine.queue_count++;
}

Task* submit(QueueIndex queue, TaskKind kind, const char* name, uint64_t bytes) noexcept {
  if (queue >= kMaxQueues || !engine.queues[queue] || !is_sampling_this_copy() ||
      process_state.file.pause_switch().is_paused())
    return nullptr;
  ThreadState* thread = this_thread();
  if (thread && thread->busy) thread = nullptr;
  const char* const copy = kCopyNames[static_cast<size_t>(kind)];
  const char* const executed = copy ? copy : text(name);
  NodeId node = kNoNode;
  ucontext_t here;
  capture(here);
  if (thread)
    if (Task* const task = submit_at_once(*thread, here, queue, kind, executed, bytes, node)) return task;

  const EngineLock lock;
  if (engine.ended) return nullptr;
  Track& track = *engine.queues[queue];
  const bool context_known = node != kNoNode;
  if (thread) {
    const ThreadBusy busy(*thread);
    if (!context_known) node = launch_node(track, thread, here, executed);
    refill(*thread);
  } else {
    node = launch_node(track, nullptr, here, executed);
  }
  if (node == kNoNode) return nullptr;
  Task* const task = engine.schedule.submit(track.device, queue, kind, monotonic_ns());
  if (!task) return nullptr;
  if (engine.schedule.under_way(track.device) == 1) {
    engine.shared[track.device].begin_work(task->submit);
    write_under_way(track.device);
  }
  task->node = node;
  task->thread = thread ? thread->index : track.index;
  task->bytes = bytes;
  task->context_known = context_known;
  return task;
}

Launch launch_of(const Task* task) noexcept {
  if (!task || !is_sampling_this_copy()) return {};
  const EngineLock lock;
  return engine.schedule.is_under_way(task) ? Launch{task->queue, task->node} : Launch{};
}

void discard(Task* task) noexcept {
  if (!task || !is_sampling_this_copy()) return;
  const EngineLock lock;
  if (!engine.schedule.is_under_way(task)) return;
  const DeviceIndex device = task->device;
  engine.schedule.discard(task);
  tell_others(device);
}

namespace {

// Charges the part of the task's wait that only the awaited task explains: it was submitted, and the earlier
// tasks of its own queue had ended. Must be called before the task's end is recorded in `track`.
void charge_event_wait(Track& track, const Task& task, const AwaitedTask& awaited) noexcept {
  const uint64_t since = std::max(task.submit, track.in_order ? track.last_end : 0);
  const uint64_t until = std::min(awaited.end_ns, task.start);
  if (since >= until || awaited.launch.queue >= engine.queue_count) return;
  if (!std::exchange(engine.event_metrics_announced, true)) announce(kEventMetrics, process_state.file);
  track.tree.add(task.node, metric(DeviceMetric::EventWait), until - since);
  engine.queues[awaited.launch.queue]->tree.add(awaited.launch.node, metric(DeviceMetric::EventWaitCause),
                                                until - since);
}

void finish_task(Task* task, uint64_t start_ns, uint64_t end_ns, const AwaitedTask& awaited = {}) noexcept {
  assert(is_engine_locked() && task->under_way);
  Track& track = *engine.queues[task->queue];
  const uint64_t now = monotonic_ns();
  admit_threads();
  note_pauses(now);
  task->idle_cause = track.tree.cell(task->node, metric(DeviceMetric::CpuIdleCause));
  const uint64_t overlap = engine.schedule.complete(task, start_ns, end_ns, now);
  engine.known_contexts[track.device] += task->context_known;
  account(track, *task, overlap);
  charge_event_wait(track, *task, awaited);
  track.last_end = std::max(track.last_end, task->end);
  tell_others(track.device);
  if (engine.schedule.is_due(now)) advance_engine(now);
}

}  // namespace

void complete(Task* task, uint64_t start_ns, uint64_t end_ns) noexcept {
  complete_after(task, start_ns, end_ns, {});
}

void complete_after(Task* task, uint64_t start_ns, uint64_t end_ns, const AwaitedTask& awaited) noexcept {
  if (!task || !is_sampling_this_copy()) return;
  const EngineLock lock;
  if (engine.ended || !engine.schedule.is_under_way(task)) return;
  if (end_ns) return finish_task(task, start_ns, end_ns, awaited);
  const DeviceIndex device = task->device;
  engine.schedule.lose(task);
  tell_others(device);
}

void complete_part(const Task* launch, TaskKind kind, const char* name, uint64_t bytes, uint64_t start_ns,
                   uint64_t end_ns) noexcept {
  if (!launch || !is_sampling_this_copy()) return;
  const EngineLock lock;
  if (engine.ended || !engine.schedule.is_under_way(launch)) return;
  const char* const copy = kCopyNames[static_cast<size_t>(kind)];
  const char* kept = nullptr;
  const FrameKey executed = symbol(copy ? copy : text(name), kept);
  const NodeId node = executed ? engine.queues[launch->queue]->tree.sibling(launch->node, executed) : kNoNode;
  Task* const task = node == kNoNode ? nullptr : engine.schedule.submit_part(*launch, kind);
  if (!task) return;
  task->node = node;
  task->bytes = bytes;
  task->context_known = launch->context_known;
  if (end_ns) return finish_task(task, start_ns, end_ns);
  engine.schedule.lose(task);
}

void note_degradation(const char* sentence) noexcept {
  stop_waiting_for_first_sample();
  if (!is_sampling_here()) return;
  const EngineLock lock;
  bool is_new = false;
  engine.notes.number_of(engine.arena, sentence, is_new);
  if (is_new) process_state.file.write_note(sentence);
}

}  // namespace hpcrun
