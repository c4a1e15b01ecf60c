#pragma once
// The devices, streams, events and graphs of the program, as the engine knows them. Thread-safe; not
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
  CUcontext primary = nullptr;  // where calls are followed without CUPTI
};

// A stream. The legacy default stream waits for the others of its context, and so do those who wait for it.
struct Queue {
  const Device* device = nullptr;
  QueueIndex index = kNoQueue;
  bool is_legacy_default = false;
  LaunchList launches;    // with the lock of all launches
  uint64_t last_end = 0;  // of what events have timed; its collector's
  Queue* next = nullptr;  // of all
  Queue* next_closed = nullptr;
};

// What was submitted to a stream as an event was last recorded in it.
struct EventMark {
  Queue* queue;
  uint64_t sequence;
};

// Reads names; told to the engine at a context's first use. nullptr where it cannot be measured.
const Device* device_of(CUcontext context) noexcept;

void note_primary_context(CUcontext context, CUdevice device) noexcept;
CUcontext primary_context_of(CUdevice device) noexcept;  // nullptr: not known

// The default stream by its names, not by 0. nullptr: not measured.
Queue* queue_of(CUcontext context, CUstream stream) noexcept;

// The handle may come to mean another.
void forget_stream(CUstream stream) noexcept;
void forget_context(CUcontext context) noexcept;

// All queues that there have been, newest first.
Queue* first_queue() noexcept;

void mark_event(CUevent event, const EventMark& mark) noexcept;
EventMark mark_of(CUevent event) noexcept;  // {nullptr, 0}: never recorded

// What a graph gives a device to do: kernels, copies and fills. By the driver; 0: that cannot be told.
uint32_t count_tasks(CUgraph graph) noexcept;
void note_graph(CUgraphExec graph, uint32_t tasks) noexcept;
uint32_t tasks_of(CUgraphExec graph) noexcept;  // 0: not known

// In a forked child: the parent's objects are not there.
void forget_objects() noexcept;

}  // namespace hpcrun::cuda
