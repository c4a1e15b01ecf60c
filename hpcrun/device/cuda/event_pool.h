#pragma once
// Manages the events that time tasks, for each context of the program, and their position in CLOCK_MONOTONIC.
// Thread-safe; calls the driver, and is not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

struct Timing;

// An event whose time is known in CLOCK_MONOTONIC. The driver only reports the time between two events.
struct Epoch {
  Epoch* next_free;
  CUevent event;
  uint64_t ns;
  uint32_t users;  // number of timings that use it, plus one for the context whose latest it is
};

struct EventContext {
  CUcontext context = nullptr;  // nullptr: unused
  CUstream stream = nullptr;    // for epochs
  bool is_suspended = false;    // belongs to the user of the context
  Timing* free_timings = nullptr;
  Epoch* free_epochs = nullptr;
  Epoch* latest = nullptr;
  uint32_t timing_count = 0;
  uint64_t epoch_due_ns = 0;
  bool makes_epoch = false;
};

struct Timing {
  Timing* next_free;
  EventContext* context;
  Epoch* epoch;
  CUevent begin;
  CUevent end;
  uint64_t submitted_ns;
  uint64_t latest_ns;
  bool has_ended;  // the event after the launch is in the stream
};

// Returns a timing with an epoch and unused events. `context` must be current. Returns nullptr if no more are
// available at once.
Timing* take_timing(CUcontext context) noexcept;
void give_back(Timing& timing) noexcept;

// Returns nullptr if the context is not known.
EventContext* find_event_context(CUcontext context) noexcept;
// Removes a context that was destroyed, and the events with it.
void remove_event_context(EventContext& context) noexcept;

// Resets the pool in a forked child.
void reset_event_pool_after_fork() noexcept;

}  // namespace hpcrun::cuda
