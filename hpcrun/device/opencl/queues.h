#pragma once
// Maps the devices and command queues of the program to the engine's. Thread-safe; not async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/device/device_clock.h"
#include "hpcrun/device/engine.h"
#include "hpcrun/device/opencl/api.h"
#include "hpcrun/guest/spin_lock.h"

namespace hpcrun::opencl {

struct Command;

struct Device {
  cl_device_id handle = nullptr;  // never a sub-device (clCreateSubDevices)
  DeviceIndex index = kNoDevice;
  SpinLock clock_lock;
  DeviceClock clock;  // guarded by clock_lock
};

constexpr size_t kMaxQueueProperties = 16;  // pairs

struct Queue {
  Device* device = nullptr;
  QueueIndex index = kNoQueue;
  bool in_order = true;
  bool asked_for_profiling = false;  // by the program
  bool has_array = false;            // created from a list of properties,
  cl_uint property_words = 0;        // which is this one, including its end
  cl_queue_properties properties[2 * kMaxQueueProperties + 1] = {};
  std::atomic<uint32_t> references{1};  // the program's
  Queue* next_closed = nullptr;

  SpinLock lock;             // guards the list
  Command* first = nullptr;  // in the order in which they were enqueued
  Command* last = nullptr;
};

// Returns the device, and adds it to the engine at its first use. Returns nullptr if it cannot be measured.
Device* device_of(cl_device_id handle) noexcept;

// Adds a new queue of the program. The `properties` that the caller sets are reported to the program.
Queue* add_queue(cl_command_queue handle, cl_device_id device, bool in_order) noexcept;
// Returns nullptr if the queue is not measured.
Queue* queue_of(cl_command_queue handle) noexcept;
// Removes a queue whose last reference was released: the handle may be reused.
void remove_queue(cl_command_queue handle) noexcept;

// Devices of a context, one bit per index.
using DeviceSet = uint32_t;
void add_context(cl_context handle) noexcept;
DeviceSet devices_of_context(cl_context handle) noexcept;
DeviceSet all_devices() noexcept;

// Returns the function's name. It is looked up at the first launch of a kernel object, and kept as long as
// the process lives.
const char* name_of_kernel(cl_kernel kernel) noexcept;
// Removes a kernel whose handle was reused.
void remove_kernel(cl_kernel kernel) noexcept;

// Allocates memory that stays as long as the process lives; returns nullptr if there is none.
void* keep(size_t bytes) noexcept;

// Resets the tables in a forked child, which does not have the parent's objects.
void reset_objects_after_fork() noexcept;

}  // namespace hpcrun::opencl
