#include "hpcrun/device/opencl/queues.h"

#include <stdio.h>
#include <string.h>

#include <new>

#include "hpcrun/device/opencl/device_names.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/guest/handle_table.h"

namespace hpcrun::opencl {

namespace {

constexpr size_t kMaxKernelName = 1024;
constexpr uint32_t kNameSlots = 1024;

constinit SpinLock lock;  // guards all below
constinit Arena arena;
constinit HandleTable queues;
constinit HandleTable contexts;  // DeviceSet + 1
constinit HandleTable kernels;   // names
constinit Device devices[kMaxDevices];
constinit size_t device_count = 0;
constinit Queue* closed_queues = nullptr;

struct KnownName {
  KnownName* next;

  char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
};
constinit KnownName* names[kNameSlots];

void* keep_locked(size_t bytes) noexcept {
  return arena.allocate(bytes);
}

const char* interned(const char* text) noexcept {
  uint32_t hash = 2166136261u;
  for (const char* at = text; *at; ++at) hash = (hash ^ static_cast<unsigned char>(*at)) * 16777619u;
  KnownName*& head = names[hash % kNameSlots];
  for (KnownName* name = head; name; name = name->next)
    if (strcmp(name->text(), text) == 0) return name->text();
  const size_t bytes = strlen(text) + 1;
  auto* fresh = static_cast<KnownName*>(keep_locked(sizeof(KnownName) + bytes));
  if (!fresh) return nullptr;
  memcpy(fresh->text(), text, bytes);
  fresh->next = head;
  head = fresh;
  return fresh->text();
}

cl_device_id whole_device(cl_device_id handle) noexcept {
  for (;;) {
    cl_device_id parent = nullptr;
    if (!next.clGetDeviceInfo ||
        next.clGetDeviceInfo(handle, CL_DEVICE_PARENT_DEVICE, sizeof parent, static_cast<void*>(&parent),
                             nullptr) != CL_SUCCESS ||
        !parent)
      return handle;
    handle = parent;
  }
}

Device* known_device(cl_device_id handle) noexcept {
  for (size_t i = 0; i < device_count; ++i)
    if (devices[i].handle == handle) return &devices[i];
  return nullptr;
}

// Returns a closed queue to reuse: successive queues of the program share one, because some programs create a
// queue in each step.
Queue* take_closed_queue(const Device* device, bool in_order) noexcept {
  for (Queue** link = &closed_queues; *link; link = &(*link)->next_closed) {
    Queue* const queue = *link;
    if (queue->device != device || queue->in_order != in_order) continue;
    *link = queue->next_closed;
    queue->next_closed = nullptr;
    return queue;
  }
  return nullptr;
}

void close_locked(cl_command_queue handle) noexcept {
  auto* queue = static_cast<Queue*>(queues.find(handle));
  if (!queue) return;
  queues.put(handle, nullptr);
  queue->next_closed = closed_queues;
  closed_queues = queue;
}

}  // namespace

void* keep(size_t bytes) noexcept {
  const Locked locked(lock);
  return keep_locked(bytes);
}

Device* device_of(cl_device_id handle) noexcept {
  {
    const Locked locked(lock);
    if (Device* device = known_device(handle)) return device;
  }
  const cl_device_id whole = whole_device(handle);
  DeviceNames names_of_device;
  read_device_names(whole, names_of_device);
  const DeviceIndex index =
      add_device({"OpenCL", names_of_device.name, names_of_device.uuid, names_of_device.driver});
  if (index == kNoDevice) return nullptr;
  const Locked locked(lock);
  if (Device* device = known_device(whole)) return device;
  if (device_count == kMaxDevices) return nullptr;
  Device* device = &devices[device_count++];
  device->handle = whole;
  device->index = index;
  return device;
}

Queue* add_queue(cl_command_queue handle, cl_device_id device_handle, bool in_order) noexcept {
  Device* device = device_of(device_handle);
  if (!device) return nullptr;
  Queue* queue = nullptr;
  {
    const Locked locked(lock);
    close_locked(handle);  // its release was not observed
    queue = take_closed_queue(device, in_order);
  }
  if (!queue) {
    static constinit std::atomic<uint32_t> count{0};
    char name[48];
    snprintf(name, sizeof name, "queue %u%s", count.fetch_add(1), in_order ? "" : " (out of order)");
    const QueueIndex index = hpcrun::add_queue(device->index, name, in_order);
    if (index == kNoQueue) return nullptr;
    void* memory = keep(sizeof(Queue));
    if (!memory) return nullptr;
    queue = new (memory) Queue;
    queue->device = device;
    queue->index = index;
    queue->in_order = in_order;
  }
  queue->references.store(1, std::memory_order_relaxed);
  queue->asked_for_profiling = queue->has_array = false;
  queue->property_words = 0;
  const Locked locked(lock);
  return queues.put(handle, queue) ? queue : nullptr;
}

Queue* queue_of(cl_command_queue handle) noexcept {
  const Locked locked(lock);
  return static_cast<Queue*>(queues.find(handle));
}

void remove_queue(cl_command_queue handle) noexcept {
  const Locked locked(lock);
  close_locked(handle);
}

void add_context(cl_context handle) noexcept {
  constexpr size_t kMaxDevices = 64;
  cl_device_id ids[kMaxDevices];
  size_t bytes = 0;
  if (next.clGetContextInfo(handle, CL_CONTEXT_DEVICES, sizeof ids, static_cast<void*>(ids), &bytes) !=
      CL_SUCCESS)
    return;
  DeviceSet set = 0;
  for (size_t i = 0; i < bytes / sizeof ids[0]; ++i)
    if (const Device* device = device_of(ids[i])) set |= DeviceSet{1} << device->index;
  const Locked locked(lock);
  contexts.put(handle, reinterpret_cast<void*>(uintptr_t{set} + 1));
}

DeviceSet devices_of_context(cl_context handle) noexcept {
  const Locked locked(lock);
  const auto known = reinterpret_cast<uintptr_t>(contexts.find(handle));
  return known ? static_cast<DeviceSet>(known - 1) : 0;
}

DeviceSet all_devices() noexcept {
  const Locked locked(lock);
  DeviceSet set = 0;
  for (size_t i = 0; i < device_count; ++i) set |= DeviceSet{1} << devices[i].index;
  return set;
}

const char* name_of_kernel(cl_kernel kernel) noexcept {
  {
    const Locked locked(lock);
    if (const void* name = kernels.find(kernel)) return static_cast<const char*>(name);
  }
  char text[kMaxKernelName];
  size_t bytes = 0;
  if (next.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text, text, &bytes) != CL_SUCCESS)
    return "[kernel]";
  text[sizeof text - 1] = '\0';
  const Locked locked(lock);
  const char* name = interned(text);
  if (!name) return "[kernel]";
  kernels.put(kernel, const_cast<char*>(name));
  return name;
}

void remove_kernel(cl_kernel kernel) noexcept {
  const Locked locked(lock);
  if (kernels.find(kernel)) kernels.put(kernel, nullptr);
}

void reset_objects_after_fork() noexcept {
  new (&lock) SpinLock;
  arena = Arena{};  // its memory was not copied
  queues.reset_after_fork();
  contexts.reset_after_fork();
  kernels.reset_after_fork();
  for (Device& device : devices) new (&device) Device;
  device_count = 0;
  closed_queues = nullptr;
  for (KnownName*& name : names) name = nullptr;
}

}  // namespace hpcrun::opencl
