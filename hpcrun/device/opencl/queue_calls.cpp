// Wraps calls for command queues. Queues are created with profiling, which is visible to the program only if
// it requested profiling itself.

#include <string.h>

#include "hpcrun/device/opencl/queues.h"
#include "hpcrun/device/opencl/wrappers.h"

namespace hpcrun::opencl {

namespace {

bool is_on_device(cl_queue_properties properties) noexcept {
  return (properties & CL_QUEUE_ON_DEVICE) != 0;
}

// Starts measuring a queue. It already belongs to the program, which must not notice what happens here.
Queue* take_up(cl_command_queue handle, cl_device_id device, cl_queue_properties asked) noexcept {
  Queue* const queue = add_queue(handle, device, !(asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
  if (queue) queue->asked_for_profiling = asked & CL_QUEUE_PROFILING_ENABLE;
  return queue;
}

void note_refusal() noexcept {
  note_degradation(
      "An OpenCL driver does not report when commands run (CL_QUEUE_PROFILING_ENABLE), so commands of its "
      "queues are not measured.");
}

// A list of properties, and the same with profiling.
struct PropertyList {
  cl_queue_properties words[2 * (kMaxQueueProperties + 1) + 1];
  cl_uint asked_words = 0;  // including the end; 0: there was no list
  cl_queue_properties asked = 0;
  bool too_long = false;

  explicit PropertyList(const cl_queue_properties* list) noexcept {
    cl_uint count = 0;
    bool found = false;
    for (; list && list[count] != 0; count += 2) {
      if (count >= 2 * kMaxQueueProperties) {
        too_long = true;
        return;
      }
      words[count] = list[count];
      words[count + 1] = list[count + 1];
      if (list[count] != CL_QUEUE_PROPERTIES) continue;
      asked = list[count + 1];
      words[count + 1] |= CL_QUEUE_PROFILING_ENABLE;
      found = true;
    }
    asked_words = list ? count + 1 : 0;
    if (!found) {
      words[count++] = CL_QUEUE_PROPERTIES;
      words[count++] = CL_QUEUE_PROFILING_ENABLE;
    }
    words[count] = 0;
  }
};

cl_int answer(const void* value, size_t bytes, size_t room, void* out, size_t* bytes_out) noexcept {
  if (out && room < bytes) return CL_INVALID_VALUE;
  if (out && bytes) memcpy(out, value, bytes);
  if (bytes_out) *bytes_out = bytes;
  return CL_SUCCESS;
}

bool is_time(cl_profiling_info which) noexcept {
  return which >= CL_PROFILING_COMMAND_QUEUED && which <= CL_PROFILING_COMMAND_COMPLETE;
}

// True if the program's own query would fail without us.
bool has_no_times(cl_event event) noexcept {
  cl_command_queue handle = nullptr;
  if (next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, static_cast<void*>(&handle),
                          nullptr) != CL_SUCCESS ||
      !handle)
    return false;
  const Queue* const queue = queue_of(handle);
  return queue && !queue->asked_for_profiling;
}

}  // namespace

namespace wrap {

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int* error) {
  const DeviceCall call(CallKind::Block, public_functions.clCreateCommandQueue);
  if (!device_of(device)) return next.clCreateCommandQueue(context, device, properties, error);
  cl_command_queue queue =
      next.clCreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
  if (queue) {
    take_up(queue, device, properties);
    return queue;
  }
  if (properties & CL_QUEUE_PROFILING_ENABLE) return nullptr;
  queue = next.clCreateCommandQueue(context, device, properties, error);
  if (queue) note_refusal();
  return queue;
}

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties* properties,
                                                                cl_int* error) {
  const DeviceCall call(CallKind::Block, public_functions.clCreateCommandQueueWithProperties);
  const PropertyList list(properties);
  // Kernels enqueue into such queues on the device, so we never see their commands.
  if (list.too_long || is_on_device(list.asked) || !device_of(device))
    return next.clCreateCommandQueueWithProperties(context, device, properties, error);
  cl_command_queue handle = next.clCreateCommandQueueWithProperties(context, device, list.words, error);
  if (handle) {
    Queue* const queue = take_up(handle, device, list.asked);
    if (queue && properties) {
      queue->has_array = true;
      queue->property_words = list.asked_words;
      memcpy(queue->properties, properties, list.asked_words * sizeof *properties);
    }
    return handle;
  }
  if (list.asked & CL_QUEUE_PROFILING_ENABLE) return nullptr;
  handle = next.clCreateCommandQueueWithProperties(context, device, properties, error);
  if (handle) note_refusal();
  return handle;
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue handle) {
  const cl_int status = next.clRetainCommandQueue(handle);
  Queue* const queue = status == CL_SUCCESS ? queue_of(handle) : nullptr;
  if (queue) queue->references.fetch_add(1, std::memory_order_relaxed);
  return status;
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue handle) {
  DeviceCall call(CallKind::Block, public_functions.clReleaseCommandQueue);
  Queue* const queue = queue_of(handle);
  if (!queue) return next.clReleaseCommandQueue(handle);
  call.waits_for_device(queue->device->index);
  // Done first: after the release, another thread may get the handle for a queue of its own.
  if (queue->references.fetch_sub(1, std::memory_order_relaxed) == 1) remove_queue(handle);
  return next.clReleaseCommandQueue(handle);
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue handle, cl_command_queue_info which, size_t room,
                                         void* out, size_t* bytes_out) {
  const Queue* const queue =
      which == CL_QUEUE_PROPERTIES || which == CL_QUEUE_PROPERTIES_ARRAY ? queue_of(handle) : nullptr;
  if (queue && which == CL_QUEUE_PROPERTIES_ARRAY)
    return answer(queue->properties,
                  queue->has_array ? queue->property_words * sizeof queue->properties[0] : 0, room, out,
                  bytes_out);
  const cl_int status = next.clGetCommandQueueInfo(handle, which, room, out, bytes_out);
  if (status == CL_SUCCESS && queue && out && !queue->asked_for_profiling) {
    cl_command_queue_properties properties;
    memcpy(&properties, out, sizeof properties);
    properties &= ~cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE};
    memcpy(out, &properties, sizeof properties);
  }
  return status;
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info which, size_t room, void* out,
                                           size_t* bytes_out) {
  if (event && is_time(which) && has_no_times(event)) return CL_PROFILING_INFO_NOT_AVAILABLE;
  return next.clGetEventProfilingInfo(event, which, room, out, bytes_out);
}

}  // namespace wrap

}  // namespace hpcrun::opencl
