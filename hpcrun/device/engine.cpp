#include "hpcrun/device/engine.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "hpcrun/device/context.h"
#include "hpcrun/device/engine_state.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/measurement/device_metrics.h"

namespace hpcrun {

namespace {

// Copies are named by what they are.
constexpr const char* kCopyNames[] = {nullptr, "[copy to device]", "[copy from device]", "[copy on device]",
                                      "[fill]"};

uint16_t metric(DeviceMetric id) noexcept {
  return static_cast<uint16_t>(id);
}

const char* text(const char* string) noexcept {
  return string ? string : "";
}

void write_metrics() noexcept {
  for (const DeviceMetricInfo& info : kDeviceMetrics)
    process_state.file.write_metric(
        {metric(info.id), info.name, info.unit, info.scale, info.description, 0, ""});
}

bool begin_line(Line& line, DeviceIndex device) noexcept {
  line.index = process_state.thread_count.fetch_add(1, std::memory_order_relaxed);
  line.device = device;
  return line.tree.attach(process_state.file, engine.arena, line.index);
}

// The frame that stands for what a device executes; 0: no memory.
FrameKey symbol(const char* name) noexcept {
  bool is_new = false;
  const uint32_t number = engine.symbols.number_of(engine.arena, name, is_new);
  if (number == Names::kNone) return 0;
  const FrameKey frame = make_frame(kModuleDevice, number);
  if (is_new) process_state.file.write_symbol(frame, name);
  return frame;
}

// Under the path of the thread, which is busy; without one where it is not measured.
NodeId launch_node(Line& line, ThreadState* thread, FrameKey executed) noexcept {
  if (!thread) return line.tree.insert(&executed, 1);
  const Stack stack = context_of_call(*thread, thread->device_function);
  stack.frames[-1] = executed;
  return line.tree.insert(stack.frames - 1, stack.depth + 1);
}

// Other processes hear when there is nothing left to do.
void tell_others(DeviceIndex device) noexcept {
  if (!engine.schedule.under_way(device)) engine.shared[device].end_work(engine.schedule.last_end(device));
}

DeviceIndex make_device(const DeviceInfo& info, uint64_t now) noexcept {
  if (engine.device_count == kMostDevices) return kNoDevice;
  const DeviceIndex index = engine.device_count;
  Line& line = engine.device_lines[index];
  if (!begin_line(line, index)) return kNoDevice;
  if (index == 0) {
    engine.schedule.attach(engine.arena);
    write_metrics();
  }
  ++engine.device_count;
  process_state.file.write_device(
      {index, line.index, now, text(info.name), text(info.uuid), text(info.api), text(info.driver)});
  engine.schedule.add_device(index, now);
  engine.shared[index].join(text(info.uuid));
  device_activity.store(&engine.schedule.activity, std::memory_order_release);
  // The time of the thread that uses it first counts from here too.
  if (ThreadState* const thread = this_thread(); thread && !thread->busy) {
    const Busy busy(*thread);
    device_thread(*thread, now);
  }
  process_state.observer.store(observe_sample, std::memory_order_release);
  return index;
}

void account(Line& line, const Task& task, uint64_t overlap) noexcept {
  const uint64_t length = task.end - task.start;
  line.tree.add(task.node, metric(DeviceMetric::GpuExecutionTime), length);
  line.tree.add(task.node, metric(DeviceMetric::Overlap), overlap);
  if (task.kind != TaskKind::Kernel) line.tree.add(task.node, metric(DeviceMetric::CopyTime), length);
  if (task.kind == TaskKind::CopyToDevice)
    line.tree.add(task.node, metric(DeviceMetric::BytesToDevice), task.bytes);
  if (task.kind == TaskKind::CopyFromDevice)
    line.tree.add(task.node, metric(DeviceMetric::BytesFromDevice), task.bytes);
  line.tasks.append({task.submit, task.start, task.end}, task.node, task.thread);
}

}  // namespace

DeviceIndex add_device(const DeviceInfo& info) noexcept {
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
  if (engine.ended || device >= engine.device_count || engine.queue_count == kMostQueues) return kNoQueue;
  void* memory = engine.arena.allocate(sizeof(Line));
  if (!memory) return kNoQueue;
  Line* const line = new (memory) Line;
  if (!begin_line(*line, device)) return kNoQueue;
  line->in_order = in_order;
  if (process_state.config.trace) line->tasks.attach(process_state.file, engine.arena, line->index);
  process_state.file.write_queue(line->index, device, monotonic_ns(), text(name));
  engine.queues[engine.queue_count] = line;
  return engine.queue_count++;
}

// Its line is closed with the others: tasks may still complete.
void close_queue(QueueIndex) noexcept {}

Task* submit(QueueIndex queue, TaskKind kind, const char* name, uint64_t bytes) noexcept {
  if (queue == kNoQueue || !is_sampling_here() || process_state.file.pause_switch().is_paused())
    return nullptr;
  ThreadState* thread = this_thread();
  if (thread && thread->busy) thread = nullptr;
  const EngineLock lock;
  if (engine.ended || queue >= engine.queue_count) return nullptr;
  Line& line = *engine.queues[queue];
  const char* const copy = kCopyNames[static_cast<size_t>(kind)];
  const FrameKey executed = symbol(copy ? copy : text(name));
  NodeId node = kNoNode;
  if (thread) {
    const Busy busy(*thread);
    node = launch_node(line, thread, executed);
  } else {
    node = launch_node(line, nullptr, executed);
  }
  if (!executed || node == kNoNode) return nullptr;
  Task* const task = engine.schedule.submit(line.device, queue, kind, monotonic_ns());
  if (!task) return nullptr;
  if (engine.schedule.under_way(line.device) == 1) engine.shared[line.device].begin_work(task->submit);
  task->node = node;
  task->thread = thread ? thread->index : line.index;
  task->bytes = bytes;
  return task;
}

void discard(Task* task) noexcept {
  if (!task || !is_sampling_here()) return;
  const EngineLock lock;
  if (!engine.schedule.is_under_way(task)) return;
  const DeviceIndex device = task->device;
  engine.schedule.discard(task);
  tell_others(device);
}

namespace {

// With the lock held, of a task that is under way.
void finish_task(Task* task, uint64_t start_ns, uint64_t end_ns) noexcept {
  Line& line = *engine.queues[task->queue];
  const uint64_t now = monotonic_ns();
  admit_threads();
  task->idle_cause = line.tree.cell(task->node, metric(DeviceMetric::CpuIdleCause));
  const uint64_t overlap = engine.schedule.complete(task, start_ns, end_ns, now);
  account(line, *task, overlap);
  tell_others(line.device);
  if (engine.schedule.is_due(now)) advance_engine(now);
}

}  // namespace

void complete(Task* task, uint64_t start_ns, uint64_t end_ns) noexcept {
  if (!task || !is_sampling_here()) return;
  const EngineLock lock;
  if (engine.ended || !engine.schedule.is_under_way(task)) return;
  if (end_ns) return finish_task(task, start_ns, end_ns);
  const DeviceIndex device = task->device;
  engine.schedule.lose(task);
  tell_others(device);
}

void complete_part(const Task* launch, TaskKind kind, const char* name, uint64_t bytes, uint64_t start_ns,
                   uint64_t end_ns) noexcept {
  if (!launch || !is_sampling_here()) return;
  const EngineLock lock;
  if (engine.ended || !engine.schedule.is_under_way(launch)) return;
  const char* const copy = kCopyNames[static_cast<size_t>(kind)];
  const FrameKey executed = symbol(copy ? copy : text(name));
  const NodeId node = executed ? engine.queues[launch->queue]->tree.sibling(launch->node, executed) : kNoNode;
  Task* const task = node == kNoNode ? nullptr : engine.schedule.submit_part(*launch, kind);
  if (!task) return;
  task->node = node;
  task->bytes = bytes;
  if (end_ns) return finish_task(task, start_ns, end_ns);
  engine.schedule.lose(task);
}

void note_degradation(const char* sentence) noexcept {
  if (!is_sampling_here()) return;
  const EngineLock lock;
  bool is_new = false;
  engine.notes.number_of(engine.arena, sentence, is_new);
  if (is_new) process_state.file.write_note(sentence);
}

}  // namespace hpcrun
