#include "hpcrun/device/observer.h"

#include <algorithm>
#include <new>

#include "hpcrun/device/shared_device.h"
#include "hpcrun/measurement/device_metrics.h"

namespace hpcrun {

constinit ThreadSlot<DeviceThread> device_slot;
constinit std::atomic<DeviceThread*> device_arrivals{nullptr};
constinit std::atomic<const DeviceActivity*> device_activity{nullptr};

DeviceThread* device_thread(ThreadState& thread, uint64_t now) noexcept {
  if (DeviceThread* const known = device_slot.of(thread)) return known;
  void* memory = thread.arena.allocate(sizeof(DeviceThread));
  if (!memory) return nullptr;
  auto* device = new (memory) DeviceThread;
  device->thread = &thread;
  for (uint32_t& place : device->shared_places) place = SharedDevice::kNoPlace;
  device->waiter.timeline.begin(now);
  device->sleep.restart(thread_usage());
  device_slot.set(thread, device);
  DeviceThread* first = device_arrivals.load(std::memory_order_relaxed);
  do device->next_arrival = first;
  while (!device_arrivals.compare_exchange_weak(first, device, std::memory_order_release,
                                                std::memory_order_relaxed));
  return device;
}

void leave_out_pause(DeviceThread& device) noexcept {
  device.waiter.timeline.skip_to(process_state.file.pause_switch().resumed_at());
}

void leave_out_sleep(DeviceThread& device, uint64_t now, uint64_t since) noexcept {
  if (process_state.wait_event >= 0) return;  // sleep is sampled as well
  Timeline& timeline = device.waiter.timeline;
  const uint64_t last = timeline.last();
  const uint64_t elapsed = now - std::min(now, last);
  timeline.skip_to(last + device.sleep.slept(elapsed, thread_usage(), since));
}

void observe_sample(ThreadState& thread, const RecordedSample& sample) noexcept {
  const DeviceActivity* const activity = device_activity.load(std::memory_order_acquire);
  if (!activity) return;
  const uint64_t now = sample.now_ns;
  DeviceThread* const device = device_thread(thread, now);
  if (!device || device->call) return;
  leave_out_pause(*device);
  leave_out_sleep(*device, now);
  device->last_sample = thread.tree.cell(sample.node, static_cast<uint16_t>(DeviceMetric::GpuIdleCause));
  device->waiter.timeline.cut(thread.arena, *activity, now, device->last_sample);
}

}  // namespace hpcrun
