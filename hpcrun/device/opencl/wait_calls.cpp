// Wraps calls that wait for commands to end, and calls that make commands begin.

#include "hpcrun/device/opencl/commands.h"
#include "hpcrun/device/opencl/wrappers.h"
#include "hpcrun/guest/cancellation.h"

namespace hpcrun::opencl {

namespace {

bool is_marker(cl_event event) noexcept {
  cl_command_type type = 0;
  return next.clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr) == CL_SUCCESS &&
         (type == CL_COMMAND_MARKER || type == CL_COMMAND_BARRIER);
}

bool has_ended(cl_event event) noexcept {
  cl_int status = CL_QUEUED;
  return next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) ==
             CL_SUCCESS &&
         status <= CL_COMPLETE;
}

// Returns the queue that a wait for the event waits for, or nullptr if there is none.
Queue* awaited_queue(cl_event event) noexcept {
  Queue* const queue = queue_of_event(event);
  if (!queue) return nullptr;
  return is_under_way(*queue, event) || (is_marker(event) && !has_ended(event)) ? queue : nullptr;
}

}  // namespace

namespace wrap {

cl_int CL_API_CALL clFinish(cl_command_queue handle) {
  Queue* const queue = queue_of(handle);
  DeviceCall call(CallKind::Wait, public_functions.clFinish);
  if (queue) call.waits_for_queue(queue->index);
  const cl_int status = unless_cancelled([&] { return next.clFinish(handle); }, [&] { call.close(); });
  call.end();
  if (queue) poll(*queue);
  return status;
}

cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* list) {
  constexpr cl_uint kMaxPolled = 16;
  Queue* queues[kMaxPolled] = {};  // of events whose commands are under way on a device
  cl_uint found = 0;
  for (cl_uint i = 0; list && i < count && found < kMaxPolled; ++i)
    if (Queue* queue = awaited_queue(list[i])) queues[found++] = queue;
  // Otherwise the wait is for nothing, or for something outside devices (a user event).
  DeviceCall call(found ? CallKind::Wait : CallKind::Short, public_functions.clWaitForEvents);
  for (cl_uint i = 0; found && i < count; ++i)
    if (Queue* queue = awaited_queue(list[i])) add_scope(call, *queue, list[i]);
  const cl_int status =
      unless_cancelled([&] { return next.clWaitForEvents(count, list); }, [&] { call.close(); });
  call.end();
  for (cl_uint i = 0; i < found; ++i) poll(*queues[i]);
  return status;
}

cl_int CL_API_CALL clFlush(cl_command_queue handle) {
  const DeviceCall call(CallKind::Short, public_functions.clFlush);
  return next.clFlush(handle);
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status) {
  const DeviceCall call(CallKind::Short, public_functions.clSetUserEventStatus);
  return next.clSetUserEventStatus(event, status);
}

}  // namespace wrap

}  // namespace hpcrun::opencl
