#pragma once
// What the runtime keeps of each thread in a process that uses devices, and what a sample does there: it cuts
// the thread's time. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/cct/device_streams.h"
#include "hpcrun/device/engine.h"
#include "hpcrun/device/launch_contexts.h"
#include "hpcrun/device/schedule.h"
#include "hpcrun/device/sleep_meter.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

struct DeviceThread {
  Waiter waiter;
  ThreadState* thread = nullptr;
  DeviceThread* next_arrival = nullptr;
  LaunchContexts* contexts = nullptr;  // made at the first call
  // They and the reserve of tasks are in use: a handler of the program's, which interrupts that, does
  // without.
  volatile sig_atomic_t submitting = 0;

  WaitStream waits;
  bool has_waits_stream = false;

  uint32_t shared_places[kMostDevices];  // SharedDevice::begin_wait() of the wait under way, by device

  // The outermost call of a device's interface that the thread is in.
  const DeviceCall* call = nullptr;
  uint64_t call_begin = 0;
  uint64_t call_end = 0;                     // 0: not yet
  ThreadUsage usage_at_begin, usage_at_end;  // of a call that waits

  SleepMeter sleep;
  // GPU_IDLE_CAUSE of the last sample, if no call was cut since: the time up to the next call is its as well.
  ValueCell* last_sample = nullptr;
};

// Threads that the engine does not know yet, the last to come first.
extern constinit std::atomic<DeviceThread*> device_arrivals;
extern constinit std::atomic<const DeviceActivity*> device_activity;  // nullptr: no device is used

// The calling thread's, made where it has none; its time counts from `now`. nullptr: no memory. In a handler,
// or while the thread is busy.
DeviceThread* device_thread(ThreadState& thread, uint64_t now) noexcept;

// What was before the end of the last pause is nobody's.
void leave_out_pause(DeviceThread& device) noexcept;

// Time up to `now` in which the thread slept is nobody's, where a sample stands for CPU time; `since` ns on
// the processor have gone by after `now`. The thread is busy, or in a call.
void leave_out_sleep(DeviceThread& device, uint64_t now, uint64_t since = 0) noexcept;

// For ProcessState::observer.
void observe_sample(ThreadState& thread, NodeId node, uint64_t now) noexcept;

}  // namespace hpcrun
