// libcuda.so.1 of a machine without a GPU: what the tests' programs use of it, over the schedule of
// fake_driver.h. FAKE_CUDA_SCHEDULE names a file for what was done, in seconds, one "name value" a line.
// FAKE_CUDA_RUNTIME_IDS=1: tasks that the runtime's calls submit carry the ids of these, not the driver's.

#include "fake_driver.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

// CUDA's opaque types.
struct CUctx_st {
  int references = 0;
};
struct CUstream_st {
  uint32_t id;
  uint64_t end = 0;
  bool capturing = false;
};
struct CUfunc_st {
  std::string name;
};
struct CUmod_st {
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};
struct CUevent_st {
  uint64_t end = 0;
};
struct CUgraphNode_st {
  std::string name;
  uint64_t length;
};
struct CUgraph_st {
  std::vector<CUgraphNode_st> nodes;
};
struct CUgraphExec_st {
  CUgraph_st graph;
};

namespace fake {
namespace {

constexpr uint64_t kLaunchLatency_ns = 20'000;
constexpr uint64_t kAllocation_ns = 400'000;
constexpr uint64_t kFree_ns = 600'000;

struct Driver {
  std::mutex mutex;
  bool initialised = false;
  uint64_t opened = 0;
  uint64_t waited = 0;
  CUctx_st context;
  CUstream_st default_stream{7, 0, false};
  std::vector<CUstream_st*> streams{&default_stream};
  CUgraph_st* captured = nullptr;
  std::vector<Task> pending;                       // not taken by CUPTI
  std::vector<std::pair<uint64_t, uint64_t>> all;  // times of all tasks
  std::vector<void*> pinned;
  uint32_t last_stream = 7;
  int pid = getpid();
  ~Driver();
};

Driver& driver() {
  static Driver* const it = new Driver;  // the program's destructors may still use it
  return *it;
}

std::atomic<uint32_t> last_correlation{100};
thread_local std::vector<uint32_t> correlations;  // of the calls that the thread is in
thread_local CUcontext current = nullptr;

uint32_t correlation_of_task() {
  if (correlations.empty()) return 0;
  return getenv("FAKE_CUDA_RUNTIME_IDS") ? correlations.front() : correlations.back();
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
            "device_window %.6f\ndevice_busy %.6f\ndevice_idle %.6f\ncpu_waits %.6f\ndevice_tasks %zu\n",
            seconds(now - it.opened), seconds(busy), seconds(now - it.opened - busy), seconds(it.waited),
            it.all.size());
    fclose(file);
  }
}

void sleep_until(uint64_t time) {
  const timespec at{static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) != 0) {
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

CUstream_st& stream_of(CUstream stream) {
  return !stream || stream == CU_STREAM_LEGACY ? driver().default_stream : *stream;
}

// When it ends. The legacy default stream and the others wait for each other.
uint64_t submit(CUstream handle, Task task, uint64_t length) {
  const uint64_t all = handle ? 0 : end_of_all();
  const std::lock_guard lock(driver().mutex);
  CUstream_st& stream = stream_of(handle);
  if (stream.capturing) {
    driver().captured->nodes.push_back({task.name, length});
    return 0;
  }
  const uint64_t behind = std::max({stream.end, all, handle ? driver().default_stream.end : 0});
  task.start = std::max(now_ns() + kLaunchLatency_ns, behind + 1'000);
  task.end = task.start + length;
  task.stream = stream.id;
  task.correlation = correlation_of_task();
  stream.end = task.end;
  driver().all.emplace_back(task.start, task.end);
  driver().pending.push_back(task);
  return task.end;
}

uint64_t copy(CUstream stream, uint8_t kind, uint64_t bytes) {
  return submit(stream, {Kind::Copy, "", kind, bytes, 0, 0, 0, 0, 0}, 5'000 + bytes / 10);
}

void work_for(uint64_t ns) {
  for (const uint64_t end = now_ns() + ns; now_ns() < end;) {
  }
}

}  // namespace

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
  data.context = current;
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
  data.context = current;
  tell(CUPTI_API_EXIT);
  correlations.pop_back();
  return result;
}

namespace {

CUresult driver_call(CUpti_driver_api_trace_cbid id, const char* name, const void* arguments,
                     const std::function<int()>& body, const char* symbol = nullptr) {
  if (!driver().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return static_cast<CUresult>(
      call({CUPTI_CB_DOMAIN_DRIVER_API, static_cast<CUpti_CallbackId>(id), name, arguments, symbol}, body));
}

void tell_resource(CUpti_CallbackIdResource id, CUstream stream) {
  CUpti_ResourceData data{};
  data.context = current;
  data.resourceHandle.stream = stream;
  if (tools().callback) tools().callback(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

// As NVIDIA's does it.
void inject() {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* library = path ? dlopen(path, RTLD_NOW) : nullptr;
  auto* initialise = library ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
  if (initialise && !initialise()) abort();
}

}  // namespace
}  // namespace fake

using namespace fake;

// The arguments as CUPTI's headers describe them, in the order of the function's.
#define FAKE_CALL(function, ...)                  \
  const function##_params arguments{__VA_ARGS__}; \
  return driver_call(CUPTI_DRIVER_TRACE_CBID_##function, #function, &arguments, [&]() -> int
#define FAKE_END )

extern "C" {

CUresult cuInit(unsigned) {
  Driver& it = driver();
  if (it.pid != getpid()) {
    if (it.initialised) return CUDA_ERROR_NOT_INITIALIZED;  // a parent's context does not survive fork()
    it.pid = getpid();
  }
  if (it.initialised) return CUDA_SUCCESS;
  it.initialised = true;
  inject();
  atexit(state_schedule);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  snprintf(name, static_cast<size_t>(bytes), "Fake GPU");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  const int process = getpid();  // runs do not share it
  memset(uuid, 0xfa, sizeof *uuid);
  memcpy(uuid->bytes, &process, sizeof process);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the fake driver";
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  FAKE_CALL(cuDevicePrimaryCtxRetain, context, device) {
    *context = &driver().context;
    if (driver().context.references++) return CUDA_SUCCESS;
    driver().opened = now_ns();
    const CUcontext before = current;
    current = *context;
    tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, nullptr);
    current = before;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  FAKE_CALL(cuDevicePrimaryCtxRelease_v2, device) {
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return driver_call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize", nullptr, [] {
    wait_until(end_of_all());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  FAKE_CALL(cuModuleLoadData, module, image) {
    *module = new CUmod_st;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuModuleUnload(CUmodule module) {
  FAKE_CALL(cuModuleUnload, module) {
    delete module;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  module->functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{name}));
  *function = module->functions.back().get();
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
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
    wait_until(stream ? stream_of(stream).end : end_of_all());
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
    return CUDA_SUCCESS;
  }
  FAKE_END;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = new CUevent_st;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  FAKE_CALL(cuEventRecord, event, stream) {
    event->end = stream_of(stream).end;
    return CUDA_SUCCESS;
  }
  FAKE_END;
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

// The first parameter of every kernel is its length in nanoseconds.
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  const cuLaunchKernel_params arguments{function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra};
  return driver_call(
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel", &arguments,
      [&]() -> int {
        if (gx == 0) return CUDA_ERROR_INVALID_VALUE;
        submit(stream, {Kind::Kernel, function->name, 0, 0, 0, 0, 0, 0, 0},
               *static_cast<const uint64_t*>(parameters[0]));
        return CUDA_SUCCESS;
      },
      function->name.c_str());
}

CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t bytes) {
  FAKE_CALL(cuMemAlloc_v2, memory, bytes) {
    *memory = reinterpret_cast<CUdeviceptr>(malloc(bytes));
    work_for(kAllocation_ns);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemFree_v2(CUdeviceptr memory) {
  FAKE_CALL(cuMemFree_v2, memory) {
    wait_until(end_of_all());
    work_for(kFree_ns);
    free(reinterpret_cast<void*>(memory));
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  FAKE_CALL(cuMemcpyHtoD_v2, to, from, bytes) {
    memcpy(reinterpret_cast<void*>(to), from, bytes);
    wait_until(copy(nullptr, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, bytes));
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  FAKE_CALL(cuMemcpyDtoH_v2, to, from, bytes) {
    const uint64_t end = bytes ? copy(nullptr, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, bytes) : end_of_all();
    wait_until(end);
    memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  FAKE_CALL(cuMemHostAlloc, memory, bytes, flags) {
    *memory = malloc(bytes);
    const std::lock_guard lock(driver().mutex);
    driver().pinned.push_back(*memory);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
// Of memory that the driver does not know it tells nothing.
CUresult cuPointerGetAttribute(void* out, CUpointer_attribute, CUdeviceptr memory) {
  const std::lock_guard lock(driver().mutex);
  if (std::ranges::count(driver().pinned, reinterpret_cast<void*>(memory)) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *static_cast<CUmemorytype*>(out) = CU_MEMORYTYPE_HOST;
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  FAKE_CALL(cuMemcpyHtoDAsync_v2, to, from, bytes, stream) {
    memcpy(reinterpret_cast<void*>(to), from, bytes);
    CUmemorytype type{};
    const uint64_t end = copy(stream, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, bytes);
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(from)) !=
        CUDA_SUCCESS)
      wait_until(end);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  FAKE_CALL(cuMemcpyAsync, to, from, bytes, stream) {
    memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    copy(stream, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, bytes);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  FAKE_CALL(cuMemsetD8Async, to, value, bytes, stream) {
    memset(reinterpret_cast<void*>(to), value, bytes);
    submit(stream, {Kind::Fill, "", 0, bytes, 0, 0, 0, 0, 0}, 5'000 + bytes / 100);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long flags) {
  FAKE_CALL(cuGraphInstantiateWithFlags, made, graph, flags) {
    *made = new CUgraphExec_st{*graph};
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  for (size_t i = 0; nodes && i < *count; ++i) nodes[i] = &graph->nodes[i];
  *count = graph->nodes.size();
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetType(CUgraphNode, CUgraphNodeType* type) {
  *type = CU_GRAPH_NODE_TYPE_KERNEL;
  return CUDA_SUCCESS;
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode, CUgraph*) {
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  FAKE_CALL(cuGraphLaunch, graph, stream) {
    uint64_t number = 0;
    for (const CUgraphNode_st& node : graph->graph.nodes)
      submit(stream, {Kind::Kernel, node.name, 0, 0, 0, 0, 0, 0, ++number}, node.length);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}

}  // extern "C"
