#include "hpcrun/device/observer.h"

#include <new>

#include "hpcrun/device/shared_device.h"
#include "hpcrun/measurement/device_metrics.h"

namespace hpcrun {

constinit std::atomic<DeviceThread*> device_arrivals{nullptr};
constinit std::atomic<const DeviceActivity*> device_activity{nullptr};

DeviceThread* device_thread(ThreadState& thread, uint64_t now) noexcept {
  if (thread.device) return thread.device;
  void* memory = thread.arena.allocate(sizeof(DeviceThread));
  if (!memory) return nullptr;
  auto* device = new (memory) DeviceThread;
  device->thread = &thread;
  for (uint32_t& place : device->shared_places) place = SharedDevice::kNoPlace;
  device->waiter.timeline.begin(now);
  thread.device = device;
  DeviceThread* first = device_arrivals.load(std::memory_order_relaxed);
  do device->next_arrival = first;
  while (!device_arrivals.compare_exchange_weak(first, device, std::memory_order_release,
                                                std::memory_order_relaxed));
  return device;
}

void observe_sample(ThreadState& thread, NodeId node, uint64_t now) noexcept {
  const DeviceActivity* const activity = device_activity.load(std::memory_order_acquire);
  if (!activity) return;
  DeviceThread* const device = device_thread(thread, now);
  if (!device || device->call) return;
  Timeline& timeline = device->waiter.timeline;
  if (const uint64_t resumed = process_state.file.pause_switch().resumed_at(); resumed > timeline.last())
    timeline.skip_to(resumed);
  timeline.cut(thread.arena, *activity, now,
               thread.tree.cell(node, static_cast<uint16_t>(DeviceMetric::GpuIdleCause)));
}

}  // namespace hpcrun
