#include "hpcrun/device/cuda/callbacks.h"

#include <atomic>
#include <new>

#include "hpcrun/device/cuda/calls.h"
#include "hpcrun/device/cuda/event_times.h"
#include "hpcrun/device/cuda/records.h"
#include "hpcrun/guest/clock.h"

namespace hpcrun::cuda {

namespace {

// The queue or device that a wait was for, to mark as run when the wait has ended.
struct Scope {
  const Device* device = nullptr;
  Queue* queue = nullptr;
  uint64_t sequence = 0;
};

// The thread's outermost call in progress; nested calls only add to it. CUPTI calls us at its beginning and
// at its end, so its state is kept here.
struct OpenCall {
  alignas(DeviceCall) unsigned char memory[sizeof(DeviceCall)] = {};
  uint32_t depth = 0;
  uint32_t id = 0;      // CUPTI's
  uintptr_t stack = 0;  // stack pointer at its beginning
  bool is_wait = false;
  uint64_t launch = 0;  // number of the launch that the call itself is
  Scope scope;

  DeviceCall& call() noexcept { return *std::launder(reinterpret_cast<DeviceCall*>(memory)); }
};

constinit thread_local OpenCall open_call;
constinit std::atomic<bool> is_child{false};
constinit std::atomic<uint32_t> captures{0};  // stream captures in progress

const void* frame() noexcept {
  return __builtin_frame_address(0);
}

// True if the stream is being captured. Our events must not become part of a graph. If the driver gives no
// status for the default stream, another stream is being captured.
bool is_capturing(CUstream stream) noexcept {
  const bool may_be = captures.load(std::memory_order_relaxed) != 0 || uses_event_times();
  if (!may_be || !driver.stream_is_capturing) return false;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver.stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Returns the name for stream 0 that means the same to all functions.
CUstream named(CUstream stream, bool per_thread) noexcept {
  if (stream) return stream;
  return per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

TaskKind task_kind(Work work) noexcept {
  switch (work) {
    case Work::CopyToDevice:
      return TaskKind::CopyToDevice;
    case Work::CopyFromDevice:
      return TaskKind::CopyFromDevice;
    case Work::Copy:
      return TaskKind::CopyOnDevice;
    case Work::Fill:
      return TaskKind::Fill;
    default:
      return TaskKind::Kernel;
  }
}

// Used if the names of its kernels are not known.
constexpr const char* kGraphName = "[graph]";

bool is_launch(const FollowedCall& call) noexcept {
  return call.work == Work::Kernel || call.work == Work::Graph;
}

Submission submission_of(const FollowedCall& call, const CUpti_CallbackData& data, Queue* queue) noexcept {
  const TaskKind kind = task_kind(call.work);
  if (call.work == Work::Kernel && data.symbolName) return {queue, kind, data.symbolName, Records::One, 1, 0};
  if (call.work != Work::Graph) return {queue, kind, "[kernel]", Records::Parts, 1, 0};
  const auto graph = static_cast<const cuGraphLaunch_params*>(data.functionParams)->hGraph;
  return {queue, kind, kGraphName, Records::Parts, tasks_of(graph), 0};
}

// Returns the submission for timing by events, which provide only times.
Submission timed_submission_of(const FollowedCall& call, const CUpti_CallbackData& data,
                               Queue* queue) noexcept {
  const char* const name = call.work == Work::Graph ? kGraphName : data.symbolName;
  Submission submission{queue, task_kind(call.work), name ? name : "[kernel]", Records::One, 1, 0};
  if (!call.extent || is_launch(call)) return submission;
  const Extent extent = call.extent(data.functionParams);
  if (call.work == Work::Copy) submission.kind = extent.kind;
  submission.bytes = extent.bytes;
  return submission;
}

// True for batches of copies, which have one record or several; which is not specified.
bool is_batch(const FollowedCall& call) noexcept {
  switch (call.id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2_ptsz:
      return call.domain == CUPTI_CB_DOMAIN_DRIVER_API;
    default:
      return false;
  }
}

void launch(const FollowedCall& call, const CUpti_CallbackData& data, Queue* queue,
            CUstream stream) noexcept {
  // This is the driver's part of a launch by the runtime.
  if (open_call.launch && is_launch(call))
    return name_launch(open_call.launch, open_call.id, data.correlationId);
  Submission submission =
      uses_event_times() ? timed_submission_of(call, data, queue) : submission_of(call, data, queue);
  if (is_batch(call)) submission.expected = 0;
  const uint64_t sequence = submit_launch(submission, data.correlationId, open_call.id);
  *data.correlationData = sequence;
  if (!sequence) return;
  open_call.scope.sequence = sequence;  // a copy that waits is itself the last launch to wait for
  if (open_call.depth == 1 && is_launch(call)) open_call.launch = sequence;
  if (uses_event_times()) begin_event_time(data.correlationId, data.context, stream);
}

// True if the driver has not pinned the memory. Asynchronous copies of such memory are not asynchronous: the
// driver copies itself, or waits.
bool is_pageable(const void* memory) noexcept {
  CUmemorytype type{};
  return driver.pointer_attribute &&
         driver.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  reinterpret_cast<CUdeviceptr>(memory)) != CUDA_SUCCESS;
}

bool copies_pageable(const FollowedCall& call, const CUpti_CallbackData& data) noexcept {
  const void* const arguments = data.functionParams;
  if (call.domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    if (call.id != CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020 &&
        call.id != CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000)
      return false;
    const auto& copy = *static_cast<const cudaMemcpyAsync_v3020_params*>(arguments);
    return data.context && (is_pageable(copy.src) || is_pageable(copy.dst));
  }
  switch (call.id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz:
      return is_pageable(static_cast<const cuMemcpyHtoDAsync_v2_params*>(arguments)->srcHost);
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz:
      return is_pageable(static_cast<const cuMemcpyDtoHAsync_v2_params*>(arguments)->dstHost);
    default:
      return false;
  }
}

void wait_for_queue(Queue& queue) noexcept {
  if (queue.is_legacy_default) {
    open_call.call().waits_for_device(queue.device->index);
    open_call.scope.device = queue.device;
  } else {
    open_call.call().waits_for_queue(queue.index);
    open_call.scope.queue = &queue;
  }
}

void wait_for_event(const FollowedCall&, const CUpti_CallbackData& data) noexcept {
  const EventMark mark = mark_of(static_cast<const cuEventSynchronize_params*>(data.functionParams)->hEvent);
  if (!mark.queue) return;
  const Task* const task = task_under_way(*mark.queue, mark.sequence);
  if (mark.queue->is_legacy_default || !task) return wait_for_queue(*mark.queue);
  open_call.call().waits_for_task(task);
  open_call.scope.queue = mark.queue;
  open_call.scope.sequence = mark.sequence;
}

void wait_for(const FollowedCall& call, const CUpti_CallbackData& data, Queue* queue) noexcept {
  switch (call.awaited) {
    case Awaited::Nothing:
      return;
    case Awaited::Stream:
      if (queue) wait_for_queue(*queue);
      return;
    case Awaited::Context:
      if (const Device* device = device_of(data.context)) {
        open_call.call().waits_for_device(device->index);
        open_call.scope.device = device;
      }
      return;
    case Awaited::Event:
      return wait_for_event(call, data);
  }
}

// Begins the outermost call.
void open(const FollowedCall& call, const CUpti_CallbackData& data) noexcept {
  const CallKind kind = copies_pageable(call, data) ? CallKind::Block : call.kind;
  new (open_call.memory) DeviceCall(kind, function_of(call));
  open_call.depth = 1;
  open_call.id = data.correlationId;
  open_call.stack = reinterpret_cast<uintptr_t>(frame());
  open_call.is_wait = call.kind == CallKind::Wait;
  open_call.launch = 0;
  open_call.scope = {};
  open_call.scope.sequence = last_launch();
}

void cover_scope() noexcept {
  const Scope& scope = open_call.scope;
  if (scope.device) cover_device(*scope.device, scope.sequence);
  if (scope.queue) cover_queue(*scope.queue, scope.sequence);
}

// Ends the outermost call, which has returned.
void close(bool succeeded) noexcept {
  DeviceCall& call = open_call.call();
  call.end();
  if (uses_event_times()) {
    open_call.is_wait ? collect_event_times() : collect_event_times_now_and_then();
  } else if (open_call.is_wait) {
    flush_records(false);
    if (succeeded) cover_scope();
  } else {
    flush_at_times();
  }
  call.~DeviceCall();
}

CUstream stream_of(const FollowedCall& call, const CUpti_CallbackData& data) noexcept {
  return named(call.stream ? call.stream(data.functionParams) : nullptr, call.per_thread);
}

void enter(const FollowedCall& call, const CUpti_CallbackData& data) noexcept {
  *data.correlationData = 0;
  // A call that was left by a jump never returned: a call that begins at a higher stack address is not inside
  // it.
  if (open_call.depth && reinterpret_cast<uintptr_t>(frame()) >= open_call.stack) open_call.depth = 0;
  open_call.depth ? void(++open_call.depth) : open(call, data);
  const bool has_stream = call.stream || call.awaited == Awaited::Stream || call.work != Work::None;
  const CUstream stream = stream_of(call, data);
  const bool submits = call.work != Work::None && call.work < Work::Instantiate && !is_capturing(stream);
  Queue* const queue =
      has_stream && (submits || call.work == Work::MarkEvent || call.awaited == Awaited::Stream)
          ? queue_of(data.context, stream)
          : nullptr;
  wait_for(call, data, queue);
  if (!queue) return;
  if (submits) launch(call, data, queue, stream);
  if (call.work == Work::MarkEvent)
    mark_event(static_cast<const cuEventRecord_params*>(data.functionParams)->hEvent, {queue, last_launch()});
}

// Must be called after the driver has accepted or refused what was submitted.
void end_launch(const FollowedCall& call, const CUpti_CallbackData& data, bool succeeded) noexcept {
  const uint64_t sequence = *data.correlationData;
  if (!sequence) return;
  const uint32_t id = data.correlationId;
  if (succeeded) {
    // A copy that waits has ended with its call.
    const uint64_t latest = call.kind == CallKind::Wait ? monotonic_ns() : UINT64_MAX;
    if (uses_event_times()) end_event_time(id, stream_of(call, data), latest);
    return;
  }
  if (uses_event_times()) cancel_event_time(id);
  discard_launch(sequence, id);
}

void leave(const FollowedCall& call, const CUpti_CallbackData& data) noexcept {
  const bool succeeded = *static_cast<const int*>(data.functionReturnValue) == 0;
  // Events recorded after a wait are not part of it.
  if (open_call.depth == 1 && call.kind == CallKind::Wait) open_call.call().end();
  end_launch(call, data, succeeded);
  if (succeeded && call.work == Work::BeginCapture) captures.fetch_add(1, std::memory_order_relaxed);
  if (call.work == Work::EndCapture && captures.load(std::memory_order_relaxed))
    captures.fetch_sub(1, std::memory_order_relaxed);
  if (succeeded && call.work == Work::Instantiate) {
    const auto* made = static_cast<const cuGraphInstantiateWithFlags_params*>(data.functionParams);
    note_graph(*made->phGraphExec, count_tasks(made->hGraph));
  }
  if (open_call.depth && --open_call.depth == 0) close(succeeded);
}

void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) noexcept {
  switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
      device_of(data.context);
      return;
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
      remove_context(data.context);
      return;
    case CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING:
      remove_stream(data.resourceHandle.stream);
      return;
    default:
      return;
  }
}

// Calls whose arguments are read as those of another.
static_assert(offsetof(cuGraphInstantiateWithParams_params, hGraph) ==
                  offsetof(cuGraphInstantiateWithFlags_params, hGraph) &&
              offsetof(cuGraphLaunch_ptsz_params, hGraphExec) == offsetof(cuGraphLaunch_params, hGraph) &&
              offsetof(cudaGraphLaunch_v10000_params, graphExec) == offsetof(cuGraphLaunch_params, hGraph) &&
              offsetof(cuEventRecordWithFlags_params, hEvent) == offsetof(cuEventRecord_params, hEvent));

}  // namespace

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) noexcept {
  if (is_child.load(std::memory_order_relaxed)) return;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE)
    return on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
  const FollowedCall* const call = find_call(domain, id);
  if (!call) return;
  const auto& api = *static_cast<const CUpti_CallbackData*>(data);
  api.callbackSite == CUPTI_API_ENTER ? enter(*call, api) : leave(*call, api);
}

CUptiResult follow_calls(CUpti_SubscriberHandle subscriber) noexcept {
  for (const CUpti_CallbackIdResource id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING})
    if (const CUptiResult result = cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
        result != CUPTI_SUCCESS)
      return result;
  for (const FollowedCall& call : followed_calls()) {
    const CUptiResult result = cupti.cuptiEnableCallback(1, subscriber, call.domain, call.id);
    if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_INVALID_PARAMETER) return result;
  }
  return CUPTI_SUCCESS;
}

void reset_calls_after_fork() noexcept {
  is_child.store(true, std::memory_order_relaxed);
  open_call.depth = 0;
  captures.store(0, std::memory_order_relaxed);
}

}  // namespace hpcrun::cuda
