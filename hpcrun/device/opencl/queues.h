#pragma once
// The devices and command queues of the program, as the engine knows them. Thread-safe; not
// async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/device/device_clock.h"
#include "hpcrun/device/engine.h"
#include "hpcrun/device/opencl/api.h"
#include "hpcrun/guest/spin_lock.h"

namespace hpcrun::opencl {

struct Command;

struct Device {
  cl_device_id handle = nullptr;  // never a part of another (clCreateSubDevices)
  DeviceIndex index = kNoDevice;
  SpinLock clock_lock;
  DeviceClock clock;  // with clock_lock
};

constexpr size_t kMostQueueProperties = 16;  // pairs

struct Queue {
  Device* device = nullptr;
  QueueIndex index = kNoQueue;
  bool in_order = true;
  bool asked_for_profiling = false;  // by the program
  bool has_array = false;            // made from a list of properties,
  cl_uint property_words = 0;        // this one, with its end
  cl_queue_properties properties[2 * kMostQueueProperties + 1] = {};
  std::atomic<uint32_t> references{1};  // the program's
  Queue* next_closed = nullptr;

  SpinLock lock;             // of the list
  Command* first = nullptr;  // in the order in which they were enqueued
  Command* last = nullptr;
};

// The device, told to the engine at its first use. nullptr where it cannot be measured.
Device* device_of(cl_device_id handle) noexcept;

// A new queue of the program's. What the caller sets in `properties` stays what the program is told.
Queue* add_queue(cl_command_queue handle, cl_device_id device, bool in_order) noexcept;
// nullptr: not measured.
Queue* queue_of(cl_command_queue handle) noexcept;
// The program's last reference is gone: the handle may come to mean another queue.
void forget_queue(cl_command_queue handle) noexcept;

// Devices of a context, one bit for each index.
using DeviceSet = uint32_t;
void add_context(cl_context handle) noexcept;
DeviceSet devices_of_context(cl_context handle) noexcept;
DeviceSet all_devices() noexcept;

// The function's name, looked up at the first launch of a kernel object, and kept while the process lives.
const char* name_of_kernel(cl_kernel kernel) noexcept;
// Another object has this handle now.
void forget_kernel(cl_kernel kernel) noexcept;

// Memory that stays while the process lives; nullptr when there is none.
void* keep(size_t bytes) noexcept;

// In a forked child: the parent's objects are not there.
void forget_objects() noexcept;

}  // namespace hpcrun::opencl
