#pragma once
// The events that tasks are timed by, of each context of the program, and their place in CLOCK_MONOTONIC.
// Thread-safe; calls the driver, and is not async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/api.h"

namespace hpcrun::cuda {

struct Timing;

// An event that the device passed at a time that is known in CLOCK_MONOTONIC: the driver tells only how far
// two events are apart.
struct Epoch {
  Epoch* next_free;
  CUevent event;
  uint64_t ns;
  uint32_t users;  // timings, and the context whose latest it is
};

struct EventContext {
  CUcontext context = nullptr;  // nullptr: the place is free
  CUstream stream = nullptr;    // for epochs
  bool is_suspended = false;    // its user's
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
  bool has_ended;  // the event behind the launch is in the stream
};

// With an epoch, and events that nobody uses. `context` is current. nullptr: no more are to be had at once.
Timing* take_timing(CUcontext context) noexcept;
void give_back(Timing& timing) noexcept;

// nullptr: not known.
EventContext* find_event_context(CUcontext context) noexcept;
// The context is gone, and the events with it.
void drop_context(EventContext& context) noexcept;

// In a forked child.
void forget_event_pool() noexcept;

}  // namespace hpcrun::cuda
