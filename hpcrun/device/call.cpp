// Handles calls of a device's interface: what they wait for and how long, and the idleness that they cause.
#include <algorithm>
#include <cassert>
#include <utility>

#include "hpcrun/device/context.h"
#include "hpcrun/device/engine.h"
#include "hpcrun/device/engine_state.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/measurement/device_metrics.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/sources.h"
#include "hpcrun/unwind/capture.h"

namespace hpcrun {

namespace {

// The idleness in shorter calls that do not wait is left to samples: finding their context would cost as
// much.
constexpr uint64_t kShortCallNs = 20'000;

// Index of the thread's own tree, in place of a queue's.
constexpr uint32_t kOwnTree = UINT32_MAX;

DeviceThread& of(void* thread) noexcept {
  return *static_cast<DeviceThread*>(thread);
}

ValueCell* cell(ThreadState& thread, NodeId node, DeviceMetric metric) noexcept {
  return thread.tree.cell(node, static_cast<uint16_t>(metric));
}

// Returns the calling thread's state if it is measured and its memory can be used.
DeviceThread* state_of_caller(uint64_t now) noexcept {
  ThreadState* const thread = this_thread();
  if (!thread || thread->busy) return nullptr;
  if (DeviceThread* const known = device_slot.of(*thread)) return known;
  const ThreadBusy busy(*thread);
  return device_thread(*thread, now);
}

// True if `inner` is within `outer`. A call that was left by a jump never ended; a call that begins at a
// higher stack address is not inside it.
bool is_inside(const DeviceCall* outer, const DeviceCall* inner) noexcept {
  return outer && reinterpret_cast<uintptr_t>(inner) < reinterpret_cast<uintptr_t>(outer);
}

void leave(DeviceThread& device) noexcept {
  device.waiter.wait.begin.store(0, std::memory_order_release);
  device.thread->device_function = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  device.call = nullptr;
}

// Returns the call's node in the thread's own tree. Must be called by functions of ours.
[[gnu::noinline]] NodeId node_of_call(DeviceThread& device) noexcept {
  ThreadState& thread = *device.thread;
  LaunchContexts* const contexts = launch_contexts(device);
  if (!contexts) return kNoNode;
  ucontext_t here;
  capture(here);
  const LaunchTarget target{thread.device_function, kOwnTree, nullptr};
  NodeId node = device.submitting ? kNoNode : contexts->find(origin_of(here), target);
  if (node != kNoNode) return node;
  const Stack stack = context_of_call(thread, here, thread.device_function, contexts->record());
  node = thread.tree.insert(stack.frames, stack.depth);
  if (node != kNoNode && !device.submitting) contexts->add(thread.arena, target, node);
  return node;
}

// Cuts the program's time into the part before the call, and the call. The part before belongs to the context
// of the last sample: the code after the call is in another one.
NodeId cut_call(DeviceThread& device, Interval time, bool across_pause) noexcept {
  ThreadState& thread = *device.thread;
  const DeviceActivity& activity = engine.schedule.activity;
  const NodeId node = node_of_call(device);
  Timeline& timeline = device.waiter.timeline;
  ValueCell* const before = std::exchange(device.last_sample, nullptr);
  if (node == kNoNode) {
    timeline.skip_to(time.end);
    return node;
  }
  before ? timeline.cut(thread.arena, activity, time.begin, before)
         : timeline.cut_open(thread.arena, time.begin);
  ValueCell* const idle = cell(thread, node, DeviceMetric::GpuIdleCause);
  across_pause ? timeline.cut_across_pause(thread.arena, time.end, idle)
               : timeline.cut(thread.arena, activity, time.end, idle);
  return node;
}

// Returns how long the thread worked in the call, or was kept from it by other threads on its processor. A
// thread that never gave up its processor did not wait.
uint64_t worked_in_call(const DeviceThread& device, Interval time) noexcept {
  const uint64_t length = time.end - time.begin;
  if (device.usage_at_end.sleeps == device.usage_at_begin.sleeps) return length;
  return std::min(length, device.usage_at_end.cpu_ns - device.usage_at_begin.cpu_ns);
}

void tell_others_of(DeviceThread& device, CallKind kind, Interval wait) noexcept {
  assert(is_engine_locked());
  for (uint16_t i = 0; i < engine.device_count; ++i) {
    if (!device.waiter.wait.scope.has_device(i)) continue;
    if (kind == CallKind::Block && device.shared_places[i] == SharedDevice::kNoPlace) continue;
    Interval reported = wait;
    if (kind == CallKind::Block) reported.begin += worked_in_call(device, wait);
    if (kind == CallKind::Block && !engine.schedule.under_way(i))
      reported.end = std::min(reported.end, engine.schedule.last_end(i));
    engine.shared[i].end_wait(device.shared_places[i], reported);
    device.shared_places[i] = SharedDevice::kNoPlace;
  }
}

// Announces, for other processes, that the interface is about to wait for the device.
void announce_wait(DeviceThread& device, DeviceIndex index, CallKind kind) noexcept {
  uint32_t& place = device.shared_places[index];
  if (kind == CallKind::Short || place != SharedDevice::kNoPlace) return;
  // A call that may also work waits for tasks that are under way, if there are any.
  if (kind == CallKind::Block && !engine.schedule.under_way(index)) return;
  place = engine.shared[index].begin_wait(device.call_begin, kind == CallKind::Block);
}

void end_wait(DeviceThread& device, NodeId node, CallKind kind, Interval time) noexcept {
  ThreadState& thread = *device.thread;
  const WaitCells cells{
      cell(thread, node, DeviceMetric::CpuIdle), cell(thread, node, DeviceMetric::LaunchLatency),
      cell(thread, node, DeviceMetric::GpuGap), cell(thread, node, DeviceMetric::WakeLatency)};
  lock_engine();
  admit_threads();
  tell_others_of(device, kind, time);
  if (!engine.ended) {
    engine.schedule.end_wait(device.waiter,
                             {time, kind == CallKind::Block, worked_in_call(device, time), cells, node});
    device.waiter.wait.begin.store(0, std::memory_order_release);
    advance_engine(monotonic_ns());
  }
  unlock_engine();
}

bool began_in_pause(uint64_t begin) noexcept {
  const EngineLock lock;
  note_pauses(monotonic_ns());
  return engine.schedule.was_paused(begin);
}

// Finishes a call. The tasks that a call waits for, if it began in a pause, may have been submitted in the
// pause, and are not known.
void finish_call(DeviceThread& device, CallKind kind) noexcept {
  const Interval time{device.call_begin, device.call_end};
  const PauseSwitch pause = process_state.file.pause_switch();
  const bool across_pause = pause.is_paused() || pause.resumed_at() > time.begin;
  if (across_pause && (kind == CallKind::Short || began_in_pause(time.begin)))
    return device.waiter.timeline.skip_to(time.end);
  if (kind == CallKind::Short && time.end - time.begin <= kShortCallNs) return;
  const SignalsBlocked blocked;
  const ThreadBusy busy(*device.thread);
  if (!across_pause) leave_out_pause(device);
  if (kind == CallKind::Short) leave_out_sleep(device, time.begin, time.end - time.begin);
  const NodeId node = cut_call(device, time, across_pause);
  if (kind != CallKind::Short && node != kNoNode) end_wait(device, node, kind, time);
}

}  // namespace

void withdraw_waits(DeviceThread& device) noexcept {
  for (uint16_t i = 0; i < kMaxDevices; ++i) {
    if (device.shared_places[i] == SharedDevice::kNoPlace) continue;
    engine.shared[i].end_wait(device.shared_places[i], {});
    device.shared_places[i] = SharedDevice::kNoPlace;
  }
}

DeviceCall::DeviceCall(CallKind kind, const void* function) noexcept : kind_(kind) {
  if (!device_activity.load(std::memory_order_acquire) || !is_sampling_this_copy()) return;
  const uint64_t now = monotonic_ns();
  DeviceThread* const device = state_of_caller(now);
  if (!device || is_inside(device->call, this)) return;
  thread_ = device;
  device->submitting = 0;
  device->call = this;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  device->thread->device_function = function;
  device->call_begin = now;
  device->call_end = 0;
  if (kind == CallKind::Short) return;
  leave_out_sleep(*device, now);
  withdraw_waits(*device);  // those of a call that was left by a jump
  OpenDeviceWait& wait = device->waiter.wait;
  wait.scope.clear();
  device->usage_at_begin = thread_usage();
  wait.may_work.store(kind == CallKind::Block, std::memory_order_relaxed);
  if (kind == CallKind::Block)
    wait.cpu_begin.store(thread_cpu_ns(*device->thread), std::memory_order_relaxed);
  wait.end.store(0, std::memory_order_relaxed);
  wait.begin.store(now, std::memory_order_release);
}

DeviceCall::~DeviceCall() {
  close();
}

void DeviceCall::close() noexcept {
  if (!thread_ || !is_sampling_this_copy()) return;
  // Measuring may have ended for the thread meanwhile, and started again.
  ThreadState* const thread = this_thread();
  if (!thread || device_slot.of(*thread) != thread_) return;
  end();
  DeviceThread& device = of(std::exchange(thread_, nullptr));
  finish_call(device, kind_);
  if (kind_ != CallKind::Short && process_state.wait_event < 0) device.sleep.restart(thread_usage());
  leave(device);
}

void DeviceCall::waits_for_device(DeviceIndex device) noexcept {
  if (!thread_ || device >= kMaxDevices) return;
  of(thread_).waiter.wait.scope.add_device(device);
  announce_wait(of(thread_), device, kind_);
}

void DeviceCall::waits_for_queue(QueueIndex queue) noexcept {
  if (!thread_ || queue >= kMaxQueues || !engine.queues[queue]) return;
  of(thread_).waiter.wait.scope.add_queue(engine.queues[queue]->device, queue);
  announce_wait(of(thread_), engine.queues[queue]->device, kind_);
}

void DeviceCall::waits_for_task(const Task* task) noexcept {
  if (!thread_ || !task) return;
  const EngineLock lock;
  if (!engine.schedule.is_under_way(task)) return;
  of(thread_).waiter.wait.scope.add_task(*task, engine.queues[task->queue]->in_order);
  announce_wait(of(thread_), task->device, kind_);
}

void DeviceCall::end() noexcept {
  if (!thread_) return;
  DeviceThread& device = of(thread_);
  if (device.call_end) return;
  device.call_end = monotonic_ns();
  if (kind_ != CallKind::Short) device.usage_at_end = thread_usage();
  device.waiter.wait.end.store(device.call_end, std::memory_order_release);
}

}  // namespace hpcrun
