// Streams, events, and the capture of streams.

#include <algorithm>
#include <cstdlib>

#include "fake_device.h"

using namespace fake;

namespace {

// NVIDIA's driver may do anything with objects of a destroyed context.
void require_alive(CUevent event) {
  const std::lock_guard lock(driver().mutex);
  if (std::ranges::count(driver().destroyed, event->context) != 0) abort();
}

CUresult state_of(CUevent event) {
  if (event->end == 0) return CUDA_ERROR_INVALID_HANDLE;
  return event->end <= now_ns() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  call_unsafe_in_capture();
  const std::lock_guard lock(driver().mutex);
  *stream = new CUstream_st{++driver().last_stream};
  driver().streams.push_back(*stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  tell_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream);
  const std::lock_guard lock(driver().mutex);
  std::erase(driver().streams, stream);
  driver().default_stream.end = std::max(driver().default_stream.end, stream->end);
  delete stream;
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  FAKE_CALL(cuStreamSynchronize, stream) {
    wait_until(is_default(stream) ? end_of_all() : stream->end);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  *status = stream_of(stream).capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  FAKE_CALL(cuStreamBeginCapture_v2, stream, mode) {
    driver().captured = new CUgraph_st;
    stream->capturing = true;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  FAKE_CALL(cuStreamEndCapture, stream, graph) {
    stream->capturing = false;
    *graph = driver().captured;
    driver().captured = nullptr;
    return (*graph)->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  }
  FAKE_END;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  const char* const most = getenv("FAKE_CUDA_EVENTS");
  const std::lock_guard lock(driver().mutex);
  if (most && driver().events >= atol(most)) return CUDA_ERROR_OUT_OF_MEMORY;
  ++driver().events;
  *event = new CUevent_st{current_context()};
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  FAKE_CALL(cuEventRecord, event, stream) {
    require_alive(event);
    const uint64_t all = is_default(stream) ? end_of_all() : 0;
    const std::lock_guard lock(driver().mutex);
    CUstream_st& its = stream_of(stream);
    if (its.capturing) {
      driver().captured->nodes.push_back({"[event]", 0});
      return CUDA_SUCCESS;
    }
    event->end = std::max({now_ns(), its.end, all});
    if (!its.event && its.end) driver().beside_tasks += event->end - its.end;
    its.event = event->end;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuEventQuery(CUevent event) {
  call_unsafe_in_capture();
  require_alive(event);
  return state_of(event);
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  for (CUevent event : {begin, end}) {
    require_alive(event);
    if (const CUresult state = state_of(event); state != CUDA_SUCCESS) return state;
  }
  const auto apart = static_cast<double>(end->end) - static_cast<double>(begin->end);
  *milliseconds = static_cast<float>(apart / 1e6);
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  FAKE_CALL(cuEventSynchronize, event) {
    wait_until(event->end);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuEventDestroy_v2(CUevent event) {
  delete event;
  return CUDA_SUCCESS;
}

}  // extern "C"
