#pragma once
// Holds the state of each thread in a process that uses devices, and handles samples for it: a sample cuts
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
  LaunchContexts* contexts = nullptr;  // created at the first call
  // Set while `contexts` and the reserve of tasks are in use: a handler of the program that interrupts this
  // does not use them.
  volatile sig_atomic_t submitting = 0;

  WaitStream waits;
  bool has_waits_stream = false;

  uint32_t shared_places[kMaxDevices];  // SharedDevice::begin_wait() of the wait in progress, by device

  // The outermost call of a device's interface that the thread is in.
  const DeviceCall* call = nullptr;
  uint64_t call_begin = 0;
  uint64_t call_end = 0;                     // 0: not ended
  ThreadUsage usage_at_begin, usage_at_end;  // for calls that wait

  SleepMeter sleep;
  // GPU_IDLE_CAUSE of the last sample, if no call was cut since: the time up to the next call belongs to it
  // as well.
  ValueCell* last_sample = nullptr;
};

extern constinit ThreadSlot<DeviceThread> device_slot;

// Threads that the engine has not added yet, the latest first.
extern constinit std::atomic<DeviceThread*> device_arrivals;
extern constinit std::atomic<const DeviceActivity*> device_activity;  // nullptr: no device is used

// Returns the calling thread's state, and creates it if needed; its time counts from `now`. Returns nullptr
// if there is no memory. Must be called in a handler, or while the thread is busy.
DeviceThread* device_thread(ThreadState& thread, uint64_t now) noexcept;

// Excludes the time up to the end of the last pause.
void leave_out_pause(DeviceThread& device) noexcept;

// Excludes the time up to `now` in which the thread slept, if samples represent CPU time. `since`: ns on the
// processor that elapsed after `now`. The thread must be busy, or in a call.
void leave_out_sleep(DeviceThread& device, uint64_t now, uint64_t since = 0) noexcept;

// Handles a sample (Hooks::sample).
void observe_sample(ThreadState& thread, const RecordedSample& sample) noexcept;

}  // namespace hpcrun
