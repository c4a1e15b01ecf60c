#include "fake_device.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace fake {
namespace {

constexpr uint64_t kLaunchLatencyNs = 20'000;

std::atomic<uint32_t> last_correlation{100};
thread_local std::vector<uint32_t> correlations;  // of the calls in progress on this thread
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

uint32_t correlation_of_task() {
  if (correlations.empty()) return 0;
  return getenv("FAKE_CUDA_RUNTIME_IDS") ? correlations.front() : correlations.back();
}

void sleep_until(uint64_t time) {
  const timespec at{static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) != 0) {
  }
}

}  // namespace

Driver::Driver() : pid(getpid()) {}

Driver& driver() {
  static Driver* const it = new Driver;  // the program's destructors may still use it
  return *it;
}

CUcontext& current_context() {
  thread_local CUcontext current = nullptr;
  return current;
}

void state_schedule() {
  Driver& it = driver();
  const char* path = getenv("FAKE_CUDA_SCHEDULE");
  if (!path || it.pid != getpid() || !it.opened) return;
  uint64_t busy = 0;
  uint64_t reached = 0;
  std::sort(it.all.begin(), it.all.end());
  const uint64_t now = now_ns();
  for (auto [start, end] : it.all) {
    end = std::min(end, now);
    if (end <= reached) continue;
    busy += end - std::max(start, reached);
    reached = end;
  }
  if (FILE* file = fopen(path, "w")) {
    const auto seconds = [](uint64_t ns) { return static_cast<double>(ns) * 1e-9; };
    fprintf(file,
            "device_window %.6f\ndevice_busy %.6f\ndevice_idle %.6f\ncpu_waits %.6f\nbeside_tasks %.6f\n"
            "device_tasks %zu\n",
            seconds(now - it.opened), seconds(busy), seconds(now - it.opened - busy), seconds(it.waited),
            seconds(it.beside_tasks), it.all.size());
    fclose(file);
  }
}

void wait_until(uint64_t time) {
  const uint64_t begin = now_ns();
  if (time > begin) sleep_until(time);
  const std::lock_guard lock(driver().mutex);
  driver().waited += now_ns() - begin;
}

uint64_t end_of_all() {
  const std::lock_guard lock(driver().mutex);
  uint64_t end = 0;
  for (const CUstream_st* stream : driver().streams) end = std::max(end, stream->end);
  return end;
}

bool is_default(CUstream stream) {
  return !stream || stream == CU_STREAM_LEGACY;
}

CUstream_st& stream_of(CUstream stream) {
  return is_default(stream) ? driver().default_stream : *stream;
}

uint64_t submit(CUstream handle, Task task, uint64_t length) {
  const uint64_t all = is_default(handle) ? end_of_all() : 0;
  const std::lock_guard lock(driver().mutex);
  CUstream_st& stream = stream_of(handle);
  if (stream.capturing) {
    driver().captured->nodes.push_back({task.name, length});
    return 0;
  }
  const uint64_t behind = std::max({stream.end, all, is_default(handle) ? 0 : driver().default_stream.end});
  task.start = std::max(now_ns() + kLaunchLatencyNs, behind + 1'000);
  if (stream.event) driver().beside_tasks += task.start - stream.event;
  stream.event = 0;
  task.end = task.start + length;
  task.stream = stream.id;
  task.correlation = correlation_of_task();
  stream.end = task.end;
  driver().all.emplace_back(task.start, task.end);
  driver().pending.push_back(task);
  return task.end;
}

void work_for(uint64_t ns) {
  for (const uint64_t end = now_ns() + ns; now_ns() < end;) {
  }
}

Tools& tools() {
  static Tools it;
  return it;
}

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

std::vector<Task> take_tasks(const std::function<bool(const Task&)>& which) {
  const std::lock_guard lock(driver().mutex);
  std::vector<Task> taken;
  std::vector<Task>& pending = driver().pending;
  for (const Task& task : pending)
    if (which(task)) taken.push_back(task);
  std::erase_if(pending, which);
  return taken;
}

int call(const Call& what, const std::function<int()>& body) {
  uint64_t shared = 0;
  int result = 0;
  CUpti_CallbackData data{};
  data.functionName = what.name;
  data.functionParams = what.arguments;
  data.functionReturnValue = &result;
  data.symbolName = what.symbol;
  data.context = current_context();
  data.contextUid = 1;
  data.correlationData = &shared;
  data.correlationId = ++last_correlation;
  const auto tell = [&](CUpti_ApiCallbackSite site) {
    data.callbackSite = site;
    if (tools().callback) tools().callback(what.domain, what.id, &data);
  };
  correlations.push_back(data.correlationId);
  tell(CUPTI_API_ENTER);
  result = body();
  data.context = current_context();
  tell(CUPTI_API_EXIT);
  correlations.pop_back();
  return result;
}

CUresult driver_call(CUpti_driver_api_trace_cbid id, const char* name, const void* arguments,
                     const std::function<int()>& body, const char* symbol) {
  if (!driver().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return static_cast<CUresult>(
      call({CUPTI_CB_DOMAIN_DRIVER_API, static_cast<CUpti_CallbackId>(id), name, arguments, symbol}, body));
}

void tell_resource(CUpti_CallbackIdResource id, CUstream stream) {
  CUpti_ResourceData data{};
  data.context = current_context();
  data.resourceHandle.stream = stream;
  if (tools().callback) tools().callback(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void call_unsafe_in_capture() {
  const std::lock_guard lock(driver().mutex);
  if (driver().captured && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) driver().captured->invalid = true;
}

}  // namespace fake

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  std::swap(*mode, fake::capture_mode);
  return CUDA_SUCCESS;
}
