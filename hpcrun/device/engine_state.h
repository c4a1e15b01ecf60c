#pragma once
// What the engine's parts share, and the one lock around it. Not for handlers; whoever holds the lock has the
// program's signals blocked, so that no handler of the program's can ask for it again or jump away with it.

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

// A queue or device as it appears in the measurement file: with a thread index of its own.
struct Line {
  uint32_t index = 0;
  DeviceIndex device = kNoDevice;
  bool in_order = false;
  uint64_t last_end = 0;  // of a task of the queue
  CallingContextTree tree;
  TaskStream tasks;
};

struct EngineState {
  Arena arena;
  Schedule schedule;
  Names devices;  // by uuid
  Names symbols;  // of kernels and copies
  Names notes;
  Line device_lines[kMostDevices];
  SharedDevice shared[kMostDevices];
  uint64_t shared_until = 0;    // up to which other processes were asked
  uint64_t shared_checked = 0;  // when it was last counted how many there are
  uint16_t device_count = 0;
  Line* queues[kMostQueues] = {};
  uint16_t queue_count = 0;
  uint64_t pauses_over = 0;                    // ns of the pauses that ended and are known
  bool event_metrics_announced = false;
  uint64_t known_contexts[kMostDevices] = {};  // of completed tasks, those whose launch was not walked
  bool ended = false;
};

extern constinit EngineState engine;

void lock_engine() noexcept;
void unlock_engine() noexcept;

class EngineLock {
 public:
  EngineLock() noexcept { lock_engine(); }
  ~EngineLock() { unlock_engine(); }
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;

 private:
  SignalsBlocked blocked_;
};

// The calling thread's, which is busy; nullptr: no memory.
LaunchContexts* launch_contexts(DeviceThread& device) noexcept;

// From a handler of the program's that jumps away it stays set, until the thread's next call.
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

// Without the lock. Others do not see waits of the thread that never got to their end.
void withdraw_waits(DeviceThread& device) noexcept;

// All below with the lock held.

// Threads that came since the last time take part.
void admit_threads() noexcept;

// Pauses of measuring up to now.
void note_pauses(uint64_t now) noexcept;

// What other processes did up to `until`.
void ask_others(uint64_t now, uint64_t until) noexcept;

// Resolves what can be known by now, and writes the devices' totals.
void advance_engine(uint64_t now) noexcept;

void write_totals(uint64_t now) noexcept;
// Of them, since when a task is under way: a process may be killed before it completes.
void write_under_way(DeviceIndex device) noexcept;

}  // namespace hpcrun
