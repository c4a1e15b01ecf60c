#pragma once
// Defines the state shared by the engine's parts, and the one lock around it. Not for handlers. A thread that
// holds the lock has the program's signals blocked, so that none of its handlers can request it again or jump
// away with it.

#include <atomic>
#include <cstdint>

#include "hpcrun/cct/device_streams.h"
#include "hpcrun/device/names.h"
#include "hpcrun/device/observer.h"
#include "hpcrun/device/schedule.h"
#include "hpcrun/device/shared_device.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/sample/signals_blocked.h"

namespace hpcrun {

// A queue or device in the measurement file, with a thread index of its own.
struct Track {
  uint32_t index = 0;
  DeviceIndex device = kNoDevice;
  bool in_order = false;
  uint64_t last_end = 0;  // end of the queue's latest task
  CallingContextTree tree;
  TaskStream tasks;
};

struct EngineState {
  Arena arena;
  Schedule schedule;
  Names devices;  // by uuid
  Names symbols;  // of kernels and copies
  Names notes;
  Track device_tracks[kMaxDevices];
  SharedDevice shared[kMaxDevices];
  uint64_t shared_until = 0;    // end of the time for which other processes' activity was read
  uint64_t shared_checked = 0;  // time of the last count of these processes
  uint16_t device_count = 0;
  Track* queues[kMaxQueues] = {};
  uint16_t queue_count = 0;
  uint64_t pauses_over = 0;  // ns of the ended pauses that are taken into account
  bool event_metrics_announced = false;
  // Number of completed tasks whose launch context was found without a walk.
  uint64_t known_contexts[kMaxDevices] = {};
  bool ended = false;
};

extern constinit EngineState engine;

void lock_engine() noexcept;
void unlock_engine() noexcept;
// For asserts of code that needs the lock: true if any thread holds it.
bool is_engine_locked() noexcept;

class EngineLock {
 public:
  EngineLock() noexcept { lock_engine(); }
  ~EngineLock() { unlock_engine(); }
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;

 private:
  SignalsBlocked blocked_;
};

// Returns the calling thread's contexts; the thread must be busy. Returns nullptr if there is no memory.
LaunchContexts* launch_contexts(DeviceThread& device) noexcept;

// Marks the thread as submitting. If a handler of the program jumps away, the mark stays until the thread's
// next call.
class Submitting {
 public:
  explicit Submitting(DeviceThread& device) noexcept : device_(device) {
    device_.submitting = 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Submitting() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    device_.submitting = 0;
  }
  Submitting(const Submitting&) = delete;
  Submitting& operator=(const Submitting&) = delete;

 private:
  DeviceThread& device_;
};

// Must be called without the lock. Withdraws, for other processes, waits of the thread that never ended.
void withdraw_waits(DeviceThread& device) noexcept;

// All functions below must be called with the lock held.

// Adds threads that arrived since the last call.
void admit_threads() noexcept;

// Takes pauses of measuring up to `now` into account.
void note_pauses(uint64_t now) noexcept;

// Reads the activity of other processes up to `until`.
void ask_others(uint64_t now, uint64_t until) noexcept;

// Resolves what is known by now, and writes the devices' totals.
void advance_engine(uint64_t now) noexcept;

void write_totals(uint64_t now) noexcept;
// Writes the time since when a task is under way: a process may be killed before the task completes.
void write_under_way(DeviceIndex device) noexcept;

}  // namespace hpcrun
