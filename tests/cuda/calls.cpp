// Uses CUDA's driver in the way that the first argument names, and prints results that a profiler must not
// change. With the fake driver, the first parameter of a kernel is its length in nanoseconds.

#include <cuda.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

// Only in the fake driver.
extern "C" const char* fake_node_name(CUgraphNode node);

namespace {

void require(CUresult status, const char* what) {
  if (status == CUDA_SUCCESS) return;
  printf("%s: %d\n", what, status);
  exit(1);
}

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

constexpr uint64_t kMillisecond = 1'000'000;

[[gnu::noinline]] void host_work(uint64_t milliseconds) {
  for (const uint64_t end = now_ns() + milliseconds * kMillisecond; now_ns() < end;) {
  }
}

struct Setting {
  CUcontext context = nullptr;
  CUmodule module = nullptr;

  Setting() {
    CUdevice device = 0;
    require(cuInit(0), "cuInit");
    require(cuDeviceGet(&device, 0), "cuDeviceGet");
    require(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    require(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    require(cuModuleLoadData(&module, ""), "cuModuleLoadData");
  }
  CUfunction kernel(const char* name) const {
    CUfunction function = nullptr;
    require(cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
    return function;
  }
};

[[gnu::noinline]] void launch(CUfunction kernel, uint64_t milliseconds, CUstream stream) {
  uint64_t length = milliseconds * kMillisecond;
  void* parameters[] = {&length};
  require(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
}

[[gnu::noinline]] void overlap_step(CUfunction m, CUfunction n) {
  launch(n, 4, nullptr);
  require(cuCtxSynchronize(), "cuCtxSynchronize");
  launch(m, 6, nullptr);
  host_work(8);
  require(cuCtxSynchronize(), "cuCtxSynchronize");
}

int overlap(const Setting& it) {
  CUfunction m = it.kernel("KernelM");
  CUfunction n = it.kernel("KernelN");
  for (int i = 0; i < 30; ++i) overlap_step(m, n);
  return 60;
}

[[gnu::noinline]] void time_step(CUfunction kernel) {
  CUdeviceptr memory = 0;
  uint32_t word = 7;
  require(cuMemAlloc(&memory, 4096), "cuMemAlloc");
  require(cuMemcpyHtoD(memory, &word, sizeof word), "cuMemcpyHtoD");
  launch(kernel, 3, nullptr);
  require(cuMemFree(memory), "cuMemFree");
}

int allocation(const Setting& it) {
  CUfunction kernel = it.kernel("_Z10CalcForcesPjm");
  for (int i = 0; i < 40; ++i) time_step(kernel);
  return 40;
}

// Does not wait before the end of the process.
int asynchronous(const Setting& it) {
  CUfunction kernel = it.kernel("Filter");
  CUstream stream = nullptr;
  require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  for (int i = 0; i < 60; ++i) {
    host_work(5);
    launch(kernel, 2, stream);
  }
  host_work(5);
  return 60;
}

int streams(const Setting& it) {
  CUstream first = nullptr;
  CUstream second = nullptr;
  require(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  require(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  CUfunction brief = it.kernel("Brief");
  CUfunction lasting = it.kernel("Lasting");
  for (int i = 0; i < 20; ++i) {
    launch(lasting, 12, first);
    launch(brief, 4, second);
    require(cuStreamSynchronize(second), "cuStreamSynchronize");  // waits for Brief only
    host_work(10);
    require(cuStreamSynchronize(first), "cuStreamSynchronize");  // nothing left to wait for
  }
  return 40;
}

int events(const Setting& it) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  require(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  CUfunction before = it.kernel("Before");
  CUfunction after = it.kernel("After");
  for (int i = 0; i < 20; ++i) {
    launch(before, 4, stream);
    require(cuEventRecord(event, stream), "cuEventRecord");
    launch(after, 4, stream);
    require(cuEventSynchronize(event), "cuEventSynchronize");
    host_work(6);
  }
  return 40;
}

[[gnu::noinline]] void launch_graph(CUgraphExec graph, CUstream stream) {
  require(cuGraphLaunch(graph, stream), "cuGraphLaunch");
}

int graph(const Setting& it) {
  CUstream stream = nullptr;
  CUgraph captured = nullptr;
  CUgraphExec ready = nullptr;
  require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  require(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  launch(it.kernel("NodeA"), 2, stream);
  launch(it.kernel("NodeB"), 3, stream);
  require(cuStreamEndCapture(stream, &captured), "cuStreamEndCapture");
  require(cuGraphInstantiate(&ready, captured, 0), "cuGraphInstantiate");
  for (int i = 0; i < 20; ++i) {
    launch_graph(ready, stream);
    require(cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
  return 40;
}

// While one stream is captured, another one gets work and is waited for.
int capture(const Setting& it) {
  CUstream captured = nullptr;
  CUstream other = nullptr;
  CUgraph graph = nullptr;
  require(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  require(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  CUfunction a = it.kernel("NodeA");
  CUfunction b = it.kernel("NodeB");
  CUfunction elsewhere = it.kernel("Elsewhere");
  require(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  for (int i = 0; i < 2; ++i) {
    launch(a, 2, captured);
    launch(elsewhere, 10, other);
    require(cuStreamSynchronize(other), "cuStreamSynchronize");
    launch(b, 3, captured);
  }
  require(cuStreamEndCapture(captured, &graph), "cuStreamEndCapture");
  CUgraphNode nodes[8];
  size_t count = 8;
  require(cuGraphGetNodes(graph, nodes, &count), "cuGraphGetNodes");
  printf("nodes:");
  for (size_t i = 0; i < count; ++i) printf(" %s", fake_node_name(nodes[i]));
  printf("\n");
  return 2;
}

// Submits all at once, and waits for all.
int many(const Setting& it) {
  CUfunction kernel = it.kernel("Outstanding");
  CUstream stream = nullptr;
  require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  for (int i = 0; i < 100; ++i) launch(kernel, 1, stream);
  require(cuStreamSynchronize(stream), "cuStreamSynchronize");
  return 100;
}

// Each context has one completed and one pending task when it is destroyed.
int contexts() {
  for (int i = 0; i < 10; ++i) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction ended = nullptr;
    CUfunction not_ended = nullptr;
    require(cuCtxCreate(&context, nullptr, 0, 0), "cuCtxCreate");
    require(cuModuleLoadData(&module, ""), "cuModuleLoadData");
    require(cuModuleGetFunction(&ended, module, "Ended"), "cuModuleGetFunction");
    require(cuModuleGetFunction(&not_ended, module, "NotEnded"), "cuModuleGetFunction");
    CUstream stream = nullptr;
    require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    launch(ended, 2, stream);
    host_work(4);
    launch(not_ended, 60'000, stream);
    require(cuCtxDestroy(context), "cuCtxDestroy");
  }
  return 20;
}

int every_call(const Setting& it) {
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  CUdeviceptr other = 0;
  std::vector<char> bytes(1'000'000, 'x');
  require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  require(cuMemAlloc(&memory, bytes.size()), "cuMemAlloc");
  require(cuMemAlloc(&other, bytes.size()), "cuMemAlloc");
  require(cuMemsetD8Async(memory, 'y', bytes.size(), stream), "cuMemsetD8Async");
  require(cuMemcpyHtoDAsync(memory, bytes.data(), bytes.size(), stream), "cuMemcpyHtoDAsync");
  require(cuMemcpyAsync(other, memory, bytes.size(), stream), "cuMemcpyAsync");
  require(cuStreamSynchronize(stream), "cuStreamSynchronize");
  require(cuMemcpyDtoH(bytes.data(), other, bytes.size()), "cuMemcpyDtoH");
  require(cuMemcpyDtoH(bytes.data(), other, 0), "cuMemcpyDtoH");  // 0 bytes: a call without a task
  uint64_t length = kMillisecond;
  void* parameters[] = {&length};
  const CUresult refused =
      cuLaunchKernel(it.kernel("Refused"), 0, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  require(cuMemFree(memory), "cuMemFree");
  require(cuMemFree(other), "cuMemFree");
  require(cuStreamDestroy(stream), "cuStreamDestroy");
  return bytes[5] == 'x' && refused == CUDA_ERROR_INVALID_VALUE ? 4 : -1;
}

// Asynchronous copies from pinned and from pageable memory.
int pageable(const Setting&) {
  constexpr size_t kBytes = 20'000'000;  // 2 ms
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  void* pinned = nullptr;
  const std::vector<char> bytes(kBytes, 'x');
  require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  require(cuMemAlloc(&memory, kBytes), "cuMemAlloc");
  require(cuMemHostAlloc(&pinned, kBytes, 0), "cuMemHostAlloc");
  memset(pinned, 'y', kBytes);
  for (int i = 0; i < 10; ++i) {
    require(cuMemcpyHtoDAsync(memory, pinned, kBytes, stream), "cuMemcpyHtoDAsync");
    host_work(4);
    require(cuMemcpyHtoDAsync(memory, bytes.data(), kBytes, stream), "cuMemcpyHtoDAsync");
  }
  return 20;
}

int threads(const Setting& it) {
  CUfunction kernel = it.kernel("Parallel");
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back([&] {
      CUstream stream = nullptr;
      require(cuCtxSetCurrent(it.context), "cuCtxSetCurrent");
      require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
      for (int k = 0; k < 50; ++k) {
        launch(kernel, 1, stream);
        require(cuStreamSynchronize(stream), "cuStreamSynchronize");
      }
      require(cuStreamDestroy(stream), "cuStreamDestroy");
    });
  for (std::thread& worker : workers) worker.join();
  return 200;
}

int many_streams(const Setting& it) {
  CUfunction kernel = it.kernel("Step");
  for (int i = 0; i < 300; ++i) {
    CUstream stream = nullptr;
    require(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    uint64_t length = 10'000;
    void* parameters[] = {&length};
    require(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
    require(cuStreamSynchronize(stream), "cuStreamSynchronize");
    require(cuStreamDestroy(stream), "cuStreamDestroy");
  }
  return 300;
}

int leave_outstanding(const Setting& it) {
  launch(it.kernel("Done"), 1, nullptr);
  require(cuCtxSynchronize(), "cuCtxSynchronize");
  launch(it.kernel("Outstanding"), 60'000, nullptr);
  printf("leaving\n");
  exit(3);
}

// No wait followed what has run by then.
void run_briefly(const Setting& it) {
  for (int i = 0; i < 5; ++i) launch(it.kernel("Brief"), 2, nullptr);
  printf("launched\n");
  fflush(stdout);
}

int leave_at_once(const Setting& it) {
  run_briefly(it);
  host_work(30);
  _exit(3);
}

int leave_in_handler(const Setting& it) {
  signal(SIGALRM, [](int) { _exit(3); });
  run_briefly(it);
  ualarm(30'000, 0);
  require(cuCtxSynchronize(), "cuCtxSynchronize");
  for (;;) {
    CUdeviceptr memory = 0;
    require(cuMemAlloc(&memory, 4096), "cuMemAlloc");
  }
}

int be_killed(const Setting& it) {
  run_briefly(it);
  host_work(150);
  launch(it.kernel("Last"), 1, nullptr);
  raise(SIGKILL);
  return 0;
}

int endless(const Setting& it) {
  launch(it.kernel("Done"), 1, nullptr);
  require(cuCtxSynchronize(), "cuCtxSynchronize");
  printf("launched\n");
  fflush(stdout);
  launch(it.kernel("Endless"), 1'000'000'000, nullptr);
  require(cuCtxSynchronize(), "cuCtxSynchronize");
  return 0;
}

int wait_for_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The child has no context, and gets an error that says so.
int fork_with_context(const Setting& it) {
  launch(it.kernel("Parents"), 2, nullptr);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) _exit(cuInit(0) == CUDA_ERROR_NOT_INITIALIZED ? 5 : 6);
  require(cuCtxSynchronize(), "cuCtxSynchronize");
  return wait_for_child(child);
}

int fork_first() {
  fflush(stdout);
  const pid_t child = fork();
  const Setting it;
  launch(it.kernel(child ? "Parents" : "Childs"), 2, nullptr);
  require(cuCtxSynchronize(), "cuCtxSynchronize");
  if (child == 0) exit(5);
  return wait_for_child(child);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "fork-first") {
    printf("%d\n", fork_first());
    return 0;
  }
  const Setting it;
  int done = -1;
  if (what == "capture") done = capture(it);
  if (what == "many") done = many(it);
  if (what == "contexts") done = contexts();
  if (what == "overlap") done = overlap(it);
  if (what == "allocation") done = allocation(it);
  if (what == "asynchronous") done = asynchronous(it);
  if (what == "streams") done = streams(it);
  if (what == "events") done = events(it);
  if (what == "graph") done = graph(it);
  if (what == "every-call") done = every_call(it);
  if (what == "pageable") done = pageable(it);
  if (what == "threads") done = threads(it);
  if (what == "many-streams") done = many_streams(it);
  if (what == "outstanding") done = leave_outstanding(it);
  if (what == "at-once") done = leave_at_once(it);
  if (what == "in-handler") done = leave_in_handler(it);
  if (what == "killed") done = be_killed(it);
  if (what == "endless") done = endless(it);
  if (what == "fork") done = fork_with_context(it);
  printf("%s: %d tasks\n", what.c_str(), done);
  return done < 0;
}
