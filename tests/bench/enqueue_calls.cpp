// Enqueues empty kernels and prints as JSON what a call of clEnqueueNDRangeKernel costs its thread: from one
// place in the program, and from a different calling context each time. The device waits for the program
// meanwhile, so that its own work does not interfere: enqueue_calls [CALLS [one|many|RATE]]. "one" and "many"
// measure only that case. With a rate it launches that many a second for two seconds instead, with work of
// its own in between, and prints the total time.

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace {

using Clock = std::chrono::steady_clock;

cl_command_queue queue;
cl_kernel kernel;
constexpr size_t kOne = 1;
constexpr int kBatch = 400;  // commands in progress at once

void require(cl_int status) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "OpenCL: %d\n", status);
  exit(1);
}

void enqueue(cl_uint count = 0, const cl_event* list = nullptr) {
  require(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kOne, &kOne, count, list, nullptr));
}

// Calls through a different calling context for each bit pattern.
[[gnu::noinline]] void descend(unsigned path, int depth);
[[gnu::noinline]] void left(unsigned path, int depth) {
  descend(path, depth);
  asm volatile("");
}
[[gnu::noinline]] void right(unsigned path, int depth) {
  descend(path, depth);
  asm volatile("");
}
void descend(unsigned path, int depth) {
  if (depth == 0)
    enqueue();
  else
    (path & 1 ? left : right)(path >> 1, depth - 1);
  asm volatile("");
}

template <typename Body>
double nanoseconds_a_call(cl_context context, int calls, Body body) {
  double sum = 0;
  for (int done = 0; done < calls; done += kBatch) {
    cl_int status = CL_SUCCESS;
    cl_event gate = clCreateUserEvent(context, &status);
    require(status);
    enqueue(1, &gate);
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kBatch; ++i) body(static_cast<unsigned>(done + i));
    sum += std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    require(clSetUserEventStatus(gate, CL_COMPLETE));
    require(clFinish(queue));
    clReleaseEvent(gate);
  }
  return sum / ((calls + kBatch - 1) / kBatch * kBatch);
}

volatile unsigned kept;
void work(int turns) {
  unsigned x = kept;
  for (int i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u + (x >> 16);
  kept = x;
}

// Every turn takes about the time between two launches.
double paced_seconds(int rate) {
  constexpr int kTurns = 3'000'000;
  double shortest = 1;
  for (int i = 0; i < 5; ++i) {
    const Clock::time_point begin = Clock::now();
    work(kTurns);
    shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const int turns = static_cast<int>(kTurns / shortest / rate);
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < 2 * rate; ++i) {
    work(turns);
    enqueue();
    if (i % kBatch == kBatch - 1) require(clFinish(queue));
  }
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 20'000;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  require(clGetPlatformIDs(1, &platform, nullptr));
  require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  require(status);
  const char* source = "kernel void nothing() {}";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  require(status);
  require(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  kernel = clCreateKernel(program, "nothing", &status);
  require(status);
  queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
  require(status);
  enqueue();
  require(clFinish(queue));
  const std::string_view what = argc > 2 ? argv[2] : "both";
  if (const int rate = argc > 2 ? atoi(argv[2]) : 0) {
    printf("{\"seconds\": %.6f}\n", paced_seconds(rate));
    return 0;
  }
  const char* separator = "{";
  if (what != "many") {
    const double cost = nanoseconds_a_call(context, calls, [](unsigned) { enqueue(); });
    printf("%s\"one context\": %.1f", std::exchange(separator, ", "), cost);
  }
  if (what != "one") {
    const double cost =
        nanoseconds_a_call(context, calls, [](unsigned i) { descend(i * 2654435761u >> 20, 12); });
    printf("%s\"4,096 contexts\": %.1f", std::exchange(separator, ", "), cost);
  }
  printf("}\n");
}
