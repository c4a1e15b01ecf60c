#include "hpcrun/device/cuda/objects.h"

#include <stdio.h>

#include <atomic>
#include <new>

#include "hpcrun/guest/arena.h"
#include "hpcrun/guest/handle_table.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun::cuda {

namespace {

constinit SpinLock lock;  // guards all below
constinit Arena arena;
constinit Device devices[kMaxDevices];
constinit size_t device_count = 0;
constinit HandleTable contexts;            // Device
constinit HandleTable streams;             // Queue
constinit HandleTable default_streams;     // Queue, by context
constinit HandleTable per_thread_streams;  // Queue, by context and thread
constinit HandleTable events;              // EventMark
constinit HandleTable graphs;              // number of tasks
constinit std::atomic<Queue*> queues{nullptr};
constinit Queue* closed_queues = nullptr;
constinit uint32_t stream_count = 0;

const Device* known_device(int ordinal) noexcept {
  for (size_t i = 0; i < device_count; ++i)
    if (devices[i].ordinal == ordinal) return &devices[i];
  return nullptr;
}

DeviceIndex tell_engine(int ordinal) noexcept {
  CUdevice device = 0;
  char name[192] = "CUDA device";
  char uuid[64];
  char version[32] = "";
  CUuuid bytes{};
  if (driver.device_get(&device, ordinal) != CUDA_SUCCESS) return kNoDevice;
  driver.device_name(name, sizeof name, device);
  if (driver.device_uuid(&bytes, device) == CUDA_SUCCESS) {
    char* at = uuid;
    for (const char byte : bytes.bytes) at += snprintf(at, 3, "%02x", static_cast<unsigned char>(byte));
  } else {
    snprintf(uuid, sizeof uuid, "cuda-%d", ordinal);
  }
  int number = 0;
  if (driver.driver_version(&number) == CUDA_SUCCESS)
    snprintf(version, sizeof version, "CUDA %d.%d", number / 1000, number % 1000 / 10);
  return add_device({"CUDA", name, uuid, version});
}

// Finds a context's device with CUPTI, or from the driver, which reports it for the current context only.
bool ordinal_of(CUcontext context, int& ordinal) noexcept {
  if (cupti.cuptiGetDeviceId) {
    uint32_t number = 0;
    if (cupti.cuptiGetDeviceId(context, &number) == CUPTI_SUCCESS) {
      ordinal = static_cast<int>(number);
      return true;
    }
  }
  CUcontext current = nullptr;
  return driver.context_current && driver.context_device &&
         driver.context_current(&current) == CUDA_SUCCESS && current == context &&
         driver.context_device(&ordinal) == CUDA_SUCCESS;
}

const Device* note_context(CUcontext context, int ordinal) noexcept {
  const DeviceIndex index = tell_engine(ordinal);
  if (index == kNoDevice) return nullptr;
  const Locked locked(lock);
  const Device* device = known_device(ordinal);
  if (!device) {
    if (device_count == kMaxDevices) return nullptr;
    devices[device_count] = {ordinal, index, nullptr};
    device = &devices[device_count++];
  }
  contexts.put(context, const_cast<Device*>(device));
  return device;
}

// Successive streams share one queue, because some programs create a stream in each step.
Queue* take_closed(const Device* device) noexcept {
  for (Queue** link = &closed_queues; *link; link = &(*link)->next_closed) {
    Queue* const queue = *link;
    if (queue->device != device) continue;
    *link = queue->next_closed;
    queue->next_closed = nullptr;
    return queue;
  }
  return nullptr;
}

Queue* new_queue(const Device* device, const char* name, bool is_legacy_default) noexcept {
  const QueueIndex index = add_queue(device->index, name, true);
  if (index == kNoQueue) return nullptr;
  const Locked locked(lock);
  void* memory = arena.allocate(sizeof(Queue));
  if (!memory) return nullptr;
  auto* const queue = new (memory) Queue;
  queue->device = device;
  queue->index = index;
  queue->is_legacy_default = is_legacy_default;
  queue->next = queues.load(std::memory_order_relaxed);
  queues.store(queue, std::memory_order_release);
  return queue;
}

// Two threads may find an unknown stream at once: the first to put it wins.
Queue* put_new(HandleTable& table, const void* handle, Queue* fresh) noexcept {
  const Locked locked(lock);
  if (void* known = table.find(handle)) return static_cast<Queue*>(known);
  return table.put(handle, fresh) ? fresh : nullptr;
}

Queue* find_queue(const HandleTable& table, const void* handle) noexcept {
  const Locked locked(lock);
  return static_cast<Queue*>(table.find(handle));
}

Queue* made_stream(CUcontext context, CUstream stream) noexcept {
  if (Queue* known = find_queue(streams, stream)) return known;
  const Device* const device = device_of(context);
  if (!device) return nullptr;
  uint32_t number;
  {
    const Locked locked(lock);
    if (Queue* closed = take_closed(device)) return streams.put(stream, closed) ? closed : nullptr;
    number = ++stream_count;
  }
  char name[32];
  snprintf(name, sizeof name, "stream %u", number);
  Queue* const fresh = new_queue(device, name, false);
  return fresh ? put_new(streams, stream, fresh) : nullptr;
}

Queue* legacy_default_stream(CUcontext context) noexcept {
  if (Queue* known = find_queue(default_streams, context)) return known;
  const Device* const device = device_of(context);
  Queue* const fresh = device ? new_queue(device, "default stream", true) : nullptr;
  return fresh ? put_new(default_streams, context, fresh) : nullptr;
}

Queue* per_thread_stream(CUcontext context) noexcept {
  // Thread ids have 22 bits, and contexts are at multiples of 16 below 2^47.
  const uintptr_t key = reinterpret_cast<uintptr_t>(context) >> 4 << 22 | static_cast<unsigned>(sys_gettid());
  void* const handle = reinterpret_cast<void*>(key);
  if (Queue* known = find_queue(per_thread_streams, handle)) return known;
  const Device* const device = device_of(context);
  if (!device) return nullptr;
  char name[48];
  snprintf(name, sizeof name, "default stream of thread %d", sys_gettid());
  Queue* const fresh = new_queue(device, name, false);
  return fresh ? put_new(per_thread_streams, handle, fresh) : nullptr;
}

}  // namespace

const Device* device_of(CUcontext context) noexcept {
  if (!context) return nullptr;
  {
    const Locked locked(lock);
    if (const void* known = contexts.find(context)) return static_cast<const Device*>(known);
  }
  int ordinal = 0;
  return ordinal_of(context, ordinal) ? note_context(context, ordinal) : nullptr;
}

void note_primary_context(CUcontext context, CUdevice device) noexcept {
  if (!note_context(context, device)) return;
  const Locked locked(lock);
  for (Device& known : devices)
    if (known.ordinal == device) known.primary = context;
}

CUcontext primary_context_of(CUdevice device) noexcept {
  const Locked locked(lock);
  const Device* const known = known_device(device);
  return known ? known->primary : nullptr;
}

Queue* queue_of(CUcontext context, CUstream stream) noexcept {
  if (!context) return nullptr;
  if (stream == CU_STREAM_PER_THREAD) return per_thread_stream(context);
  if (stream == CU_STREAM_LEGACY) return legacy_default_stream(context);
  return made_stream(context, stream);
}

void remove_stream(CUstream stream) noexcept {
  const Locked locked(lock);
  auto* const queue = static_cast<Queue*>(streams.find(stream));
  if (!queue) return;
  streams.put(stream, nullptr);
  queue->next_closed = closed_queues;
  closed_queues = queue;
}

void remove_context(CUcontext context) noexcept {
  const Locked locked(lock);
  if (contexts.find(context)) contexts.put(context, nullptr);
  if (default_streams.find(context)) default_streams.put(context, nullptr);
}

Queue* first_queue() noexcept {
  return queues.load(std::memory_order_acquire);
}

void mark_event(CUevent event, const EventMark& mark) noexcept {
  const Locked locked(lock);
  auto* known = static_cast<EventMark*>(events.find(event));
  if (!known) {
    known = static_cast<EventMark*>(arena.allocate(sizeof(EventMark)));
    if (!known || !events.put(event, known)) return;
  }
  *known = mark;
}

EventMark mark_of(CUevent event) noexcept {
  const Locked locked(lock);
  const auto* const known = static_cast<const EventMark*>(events.find(event));
  return known ? *known : EventMark{};
}

uint32_t count_tasks(CUgraph graph) noexcept {
  constexpr size_t kMaxNodes = 512;
  if (!driver.graph_nodes || !driver.graph_node_type || !driver.child_graph) return 0;
  size_t count = 0;
  CUgraphNode nodes[kMaxNodes];
  if (driver.graph_nodes(graph, nullptr, &count) != CUDA_SUCCESS || count > kMaxNodes ||
      driver.graph_nodes(graph, nodes, &count) != CUDA_SUCCESS)
    return 0;
  uint32_t tasks = 0;
  for (size_t i = 0; i < count; ++i) {
    CUgraphNodeType type{};
    if (driver.graph_node_type(nodes[i], &type) != CUDA_SUCCESS) return 0;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
        type == CU_GRAPH_NODE_TYPE_MEMSET) {
      ++tasks;
    } else if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      return 0;
    } else if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      CUgraph child = nullptr;
      if (driver.child_graph(nodes[i], &child) != CUDA_SUCCESS) return 0;
      const uint32_t inside = count_tasks(child);
      if (!inside) return 0;
      tasks += inside;
    }
  }
  return tasks;
}

void note_graph(CUgraphExec graph, uint32_t tasks) noexcept {
  const Locked locked(lock);
  graphs.put(graph, reinterpret_cast<void*>(uintptr_t{tasks}));
}

uint32_t tasks_of(CUgraphExec graph) noexcept {
  const Locked locked(lock);
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(graphs.find(graph)));
}

void reset_objects_after_fork() noexcept {
  new (&lock) SpinLock;
  arena = Arena{};  // its memory was not copied
  for (HandleTable* table : {&contexts, &streams, &default_streams, &per_thread_streams, &events, &graphs})
    table->reset_after_fork();
  for (Device& device : devices) device = Device{};
  device_count = 0;
  queues.store(nullptr, std::memory_order_relaxed);
  closed_queues = nullptr;
  stream_count = 0;
}

}  // namespace hpcrun::cuda
