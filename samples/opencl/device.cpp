#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace opencl {

namespace {

constexpr int kNoDevice = 77;  // tests are skipped

// Every kernel is the same loop under a name of its own.
const char* const kSource = R"(
#define SPIN(name)                                             \
  kernel void name(global uint* data, ulong turns) {           \
    uint x = data[1];                                          \
    for (ulong i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u + (x >> 16); \
    data[0] += 1;                                              \
    data[1] = x;                                               \
  }
SPIN(KernelM)
SPIN(KernelN)
SPIN(Calibrate)
SPIN(CalcForces)
SPIN(Filter)
)";

cl_device_id first_device() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    fprintf(stderr, "no OpenCL device\n");
    exit(kNoDevice);
  }
  return device;
}

cl_ulong time_of(cl_event event, cl_profiling_info which) {
  cl_ulong time = 0;
  require(clGetEventProfilingInfo(event, which, sizeof time, &time, nullptr), "clGetEventProfilingInfo");
  return time;
}

constexpr double kSecondsPerNs = 1e-9;

}  // namespace

void require(cl_int status, const char* call) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s failed: %d\n", call, status);
  exit(1);
}

Options parse_options(int argc, char** argv, int default_steps) {
  Options options{false, default_steps};
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--schedule") == 0)
      options.schedule = true;
    else
      options.steps = atoi(argv[i]);
  }
  return options;
}

uint64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

namespace {

volatile uint32_t kept;  // keeps the compiler from removing the work

[[gnu::noinline]] void turn(uint64_t turns) {
  uint32_t x = kept;
  for (uint64_t i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u + (x >> 16);
  kept = x;
}

}  // namespace

HostWork::HostWork() : turns_per_millisecond_(0) {
  constexpr uint64_t kTurns = 1'000'000;
  for (int i = 0; i < 9; ++i) {  // the fastest was disturbed least
    const uint64_t begin = now_ns();
    turn(kTurns);
    turns_per_millisecond_ =
        std::max(turns_per_millisecond_, kTurns * 1e6 / static_cast<double>(now_ns() - begin));
  }
}

void HostWork::run(double milliseconds) const {
  turn(static_cast<uint64_t>(milliseconds * turns_per_millisecond_));
}

Device::Device(const Options& options) : device_(first_device()), keeps_schedule_(options.schedule) {
  cl_int status = CL_SUCCESS;
  opened_ns_ = now_ns();
  context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
  require(status, "clCreateContext");
  const char* source = kSource;
  program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &status);
  require(status, "clCreateProgramWithSource");
  require(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
  turns_per_millisecond_ = calibrate();
}

Device::~Device() {
  for (cl_event event : events_) clReleaseEvent(event);
  clReleaseProgram(program_);
  clReleaseContext(context_);
}

double Device::calibrate() {
  constexpr cl_ulong kTurns = 2'000'000;
  cl_command_queue queue = new_queue();
  cl_kernel kernel = new_kernel("Calibrate");
  cl_mem buffer = new_buffer(2 * sizeof(cl_uint));
  double best = 0;
  for (int i = 0; i < 9; ++i) {
    require(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
    require(clSetKernelArg(kernel, 1, sizeof kTurns, &kTurns), "clSetKernelArg");
    const size_t one = 1;
    const uint64_t begin = now_ns();
    require(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, event()),
            "clEnqueueNDRangeKernel");
    const uint64_t enqueued = now_ns();  // the first call compiles
    require(clFinish(queue), "clFinish");
    add_wait(enqueued);
    best = std::max(best, static_cast<double>(kTurns) * 1e6 / static_cast<double>(now_ns() - begin));
  }
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseCommandQueue(queue);
  return best;
}

cl_command_queue Device::new_queue() {
  cl_int status = CL_SUCCESS;
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(context_, device_, keeps_schedule_ ? properties : nullptr, &status);
  require(status, "clCreateCommandQueueWithProperties");
  return queue;
}

cl_kernel Device::new_kernel(const char* name) {
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program_, name, &status);
  require(status, "clCreateKernel");
  return kernel;
}

cl_mem Device::new_buffer(size_t bytes) {
  cl_int status = CL_SUCCESS;
  std::vector<cl_uchar> zeros(bytes);
  cl_mem buffer =
      clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, zeros.data(), &status);
  require(status, "clCreateBuffer");
  return buffer;
}

void Device::enqueue(cl_command_queue queue, cl_kernel kernel, cl_mem buffer, double milliseconds) {
  const auto turns = static_cast<cl_ulong>(milliseconds * turns_per_millisecond_);
  require(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  require(clSetKernelArg(kernel, 1, sizeof turns, &turns), "clSetKernelArg");
  const size_t one = 1;
  require(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, event()),
          "clEnqueueNDRangeKernel");
}

cl_event* Device::event() {
  if (!keeps_schedule_) return nullptr;
  events_.push_back(nullptr);
  return &events_.back();
}

void Device::add_wait(uint64_t begin_ns) {
  waited_ns_ += now_ns() - begin_ns;
}

std::vector<std::pair<uint64_t, uint64_t>> Device::schedule() {
  std::vector<std::pair<uint64_t, uint64_t>> times;
  for (cl_event event : events_)
    times.emplace_back(time_of(event, CL_PROFILING_COMMAND_START), time_of(event, CL_PROFILING_COMMAND_END));
  return times;
}

std::vector<std::pair<uint64_t, uint64_t>> Device::outstanding() {
  std::vector<std::pair<uint64_t, uint64_t>> times;
  for (cl_event event : events_)
    times.emplace_back(time_of(event, CL_PROFILING_COMMAND_QUEUED), time_of(event, CL_PROFILING_COMMAND_END));
  return times;
}

void Device::state_schedule() {
  if (!keeps_schedule_) return;
  const auto window = static_cast<double>(now_ns() - opened_ns_) * kSecondsPerNs;
  const auto busy = static_cast<double>(covered(schedule())) * kSecondsPerNs;
  fprintf(stderr,
          "device_window %.6f\ndevice_busy %.6f\ndevice_idle %.6f\ncpu_waits %.6f\ndevice_tasks %zu\n",
          window, busy, window - busy, static_cast<double>(waited_ns_) * kSecondsPerNs, events_.size());
}

uint64_t covered(std::vector<std::pair<uint64_t, uint64_t>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  uint64_t sum = 0;
  uint64_t reached = 0;
  for (const auto& [start, end] : intervals) {
    if (end <= reached) continue;
    sum += end - std::max(start, reached);
    reached = end;
  }
  return sum;
}

}  // namespace opencl
