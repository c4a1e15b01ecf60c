#pragma once
// Maps the devices, streams, events and graphs of the program to the engine's. Thread-safe; not
// async-signal-safe.

#include <cstdint>

#include "hpcrun/device/cuda/api.h"
#include "hpcrun/device/cuda/launches.h"
#include "hpcrun/device/engine.h"
#include "hpcrun/guest/spin_lock.h"

namespace hpcrun::cuda {

struct Device {
  int ordinal = -1;
  DeviceIndex index = kNoDevice;
  CUcontext primary = nullptr;  // set if calls are followed without CUPTI
};

// A stream. The legacy default stream waits for the other streams of its context, so a wait for it is a wait
// for all.
struct Queue {
  const Device* device = nullptr;
  QueueIndex index = kNoQueue;
  bool is_legacy_default = false;
  LaunchList launches;    // guarded by the lock of all launches
  uint64_t last_end = 0;  // of launches timed by events; belongs to the collector
  Queue* next = nullptr;  // in the list of all queues
  Queue* next_closed = nullptr;
};

// The work that had been submitted to a stream when an event was last recorded in it.
struct EventMark {
  Queue* queue;
  uint64_t sequence;
};

// Returns the context's device. Reads its names and adds it to the engine at the context's first use. Returns
// nullptr if it cannot be measured.
const Device* device_of(CUcontext context) noexcept;

void note_primary_context(CUcontext context, CUdevice device) noexcept;
CUcontext primary_context_of(CUdevice device) noexcept;  // nullptr: not known

// Returns the queue of a stream. The default stream must be given by its names, not by 0. Returns nullptr if
// it is not measured.
Queue* queue_of(CUcontext context, CUstream stream) noexcept;

// Remove a handle, which may be reused.
void remove_stream(CUstream stream) noexcept;
void remove_context(CUcontext context) noexcept;

// Returns the list of all queues so far, newest first.
Queue* first_queue() noexcept;

void mark_event(CUevent event, const EventMark& mark) noexcept;
EventMark mark_of(CUevent event) noexcept;  // {nullptr, 0}: never recorded

// Returns the number of tasks in a graph (kernels, copies and fills), according to the driver. Returns 0 if
// it cannot be determined.
uint32_t count_tasks(CUgraph graph) noexcept;
void note_graph(CUgraphExec graph, uint32_t tasks) noexcept;
uint32_t tasks_of(CUgraphExec graph) noexcept;  // 0: not known

// Resets the tables in a forked child, which does not have the parent's objects.
void reset_objects_after_fork() noexcept;

}  // namespace hpcrun::cuda
