// Uses OpenCL in the way that the first argument names, and prints results that a profiler must not change.
// Ends with status 77 if there is no device.

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

const char* const kSource = R"(
kernel void add(global uint* data) { atomic_add(data, 1); }
kernel void work(global uint* data, uint turns) {
  uint x = data[1];
  for (uint i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u + (x >> 16);
  data[1] = x;
  atomic_add(data, 1);
}
kernel void endless(global volatile uint* data) { while (data[0] != 12345) data[1] += 1; }
)";

constexpr size_t kOne = 1;

void require(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  printf("%s: %d\n", what, status);
  exit(1);
}

struct Setting {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_program program = nullptr;
  cl_mem buffer = nullptr;

  Setting() {
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
      printf("no OpenCL device\n");
      exit(77);
    }
    cl_int status = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    require(status, "clCreateContext");
    const char* source = kSource;
    program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
    require(status, "clCreateProgramWithSource");
    require(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "clBuildProgram");
    cl_uint zeros[64] = {};
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, &status);
    require(status, "clCreateBuffer");
  }

  cl_command_queue queue(cl_command_queue_properties properties = 0) const {
    cl_int status = CL_SUCCESS;
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    cl_command_queue made =
        clCreateCommandQueueWithProperties(context, device, properties ? list : nullptr, &status);
    require(status, "clCreateCommandQueueWithProperties");
    return made;
  }

  cl_kernel kernel(const char* name, cl_uint turns = 0) const {
    cl_int status = CL_SUCCESS;
    cl_kernel made = clCreateKernel(program, name, &status);
    require(status, "clCreateKernel");
    require(clSetKernelArg(made, 0, sizeof buffer, &buffer), "clSetKernelArg");
    if (turns) require(clSetKernelArg(made, 1, sizeof turns, &turns), "clSetKernelArg");
    return made;
  }

  cl_uint sum(cl_command_queue queue) const {
    cl_uint value = 0;
    require(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr),
            "read");
    return value;
  }
};

void launch(cl_command_queue queue, cl_kernel kernel, cl_uint count = 0, const cl_event* list = nullptr,
            cl_event* event = nullptr) {
  require(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kOne, &kOne, count, list, event), "launch");
}

void show_queue(const char* title, cl_command_queue queue, cl_kernel kernel) {
  cl_command_queue_properties properties = 0;
  size_t bytes = 0;
  cl_queue_properties array[8] = {};
  cl_int status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, &bytes);
  printf("%s: %d, properties %llu in %zu bytes\n", title, status, static_cast<unsigned long long>(properties),
         bytes);
  status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof array, array, &bytes);
  printf("array: %d, %zu bytes: %llu %llu\n", status, bytes, static_cast<unsigned long long>(array[0]),
         static_cast<unsigned long long>(array[1]));
  cl_uint references = 0;
  clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references, nullptr);
  printf("references %u\n", references);
  cl_event event = nullptr;
  launch(queue, kernel, 0, nullptr, &event);
  require(clWaitForEvents(1, &event), "clWaitForEvents");
  cl_ulong start = 0, end = 0;
  printf("start: %d, end: %d, ",
         clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr),
         clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr));
  printf("%s\n", start == 0 ? "no times" : start <= end ? "in order" : "out of order");
  clReleaseEvent(event);
}

int queries() {
  const Setting setting;
  cl_kernel kernel = setting.kernel("add");
  cl_int status = CL_SUCCESS;
  cl_command_queue queues[] = {
      setting.queue(),
      setting.queue(CL_QUEUE_PROFILING_ENABLE),
      setting.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE),
      clCreateCommandQueue(setting.context, setting.device, 0, &status),
      clCreateCommandQueue(setting.context, setting.device, CL_QUEUE_PROFILING_ENABLE, &status),
  };
  const char* const titles[] = {"plain", "profiled", "out of order", "old", "old profiled"};
  for (size_t i = 0; i < std::size(queues); ++i) show_queue(titles[i], queues[i], kernel);
  printf("of no event: %d\n",
         clGetEventProfilingInfo(nullptr, CL_PROFILING_COMMAND_START, 0, nullptr, nullptr) != CL_SUCCESS);
  printf("of no queue: %d\n", clFinish(nullptr) != CL_SUCCESS);
  printf("of no dimensions: %d\n",
         clEnqueueNDRangeKernel(queues[0], kernel, 0, nullptr, &kOne, &kOne, 0, nullptr, nullptr));
  printf("unknown properties: %d\n",
         clCreateCommandQueue(setting.context, setting.device, 1u << 20, &status) == nullptr && status);
  printf("sum %u\n", setting.sum(queues[0]));
  return 0;
}

int out_of_order() {
  const Setting setting;
  cl_command_queue queue = setting.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_kernel kernel = setting.kernel("work", 3'000'000);
  std::vector<cl_event> events(12);
  for (size_t i = 0; i < events.size(); ++i)
    launch(queue, kernel, i < 3 ? 0 : 1, i < 3 ? nullptr : &events[i - 3], &events[i]);
  require(clWaitForEvents(2, &events[9]), "clWaitForEvents");
  cl_event marker = nullptr;
  require(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker), "marker");
  require(clEnqueueBarrierWithWaitList(queue, 0, nullptr, nullptr), "barrier");
  require(clWaitForEvents(1, &marker), "clWaitForEvents");
  for (cl_event event : events) clReleaseEvent(event);
  printf("sum %u\n", setting.sum(queue));
  return 0;
}

int user_events() {
  const Setting setting;
  cl_command_queue queue = setting.queue();
  cl_kernel kernel = setting.kernel("add");
  cl_int status = CL_SUCCESS;
  cl_event gate = clCreateUserEvent(setting.context, &status);
  require(status, "clCreateUserEvent");
  cl_event done = nullptr;
  launch(queue, kernel, 1, &gate, &done);
  require(clFlush(queue), "clFlush");
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    require(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  });
  require(clWaitForEvents(1, &gate), "clWaitForEvents");
  require(clWaitForEvents(1, &done), "clWaitForEvents");
  opener.join();
  clReleaseEvent(gate);
  clReleaseEvent(done);
  printf("sum %u\n", setting.sum(queue));
  return 0;
}

void CL_CALLBACK native(void* arguments) {
  **static_cast<cl_uint**>(arguments) += 1;
}

// One command of each kind that every device has.
int every_call() {
  const Setting setting;
  cl_command_queue queue = setting.queue();
  cl_kernel kernel = setting.kernel("add");
  cl_int status = CL_SUCCESS;
  launch(queue, kernel);
  require(clEnqueueTask(queue, kernel, 0, nullptr, nullptr), "clEnqueueTask");
  cl_uint words[64] = {7};
  cl_mem other = clCreateBuffer(setting.context, CL_MEM_READ_WRITE, sizeof words, nullptr, &status);
  require(status, "clCreateBuffer");
  require(clEnqueueWriteBuffer(queue, other, CL_FALSE, 0, sizeof words, words, 0, nullptr, nullptr), "write");
  require(clEnqueueCopyBuffer(queue, setting.buffer, other, 0, 4, 4, 0, nullptr, nullptr), "copy");
  const cl_uint pattern = 9;
  require(clEnqueueFillBuffer(queue, other, &pattern, 4, 8, 8, 0, nullptr, nullptr), "fill");
  const size_t origin[3] = {0, 0, 0}, region[3] = {4, 4, 1};
  require(clEnqueueReadBufferRect(queue, other, CL_TRUE, origin, origin, region, 16, 0, 16, 0, words, 0,
                                  nullptr, nullptr),
          "read rectangle");
  require(clEnqueueWriteBufferRect(queue, other, CL_FALSE, origin, origin, region, 16, 0, 16, 0, words, 0,
                                   nullptr, nullptr),
          "write rectangle");
  require(clEnqueueCopyBufferRect(queue, setting.buffer, other, origin, origin, region, 16, 0, 16, 0, 0,
                                  nullptr, nullptr),
          "copy rectangle");
  require(clEnqueueMigrateMemObjects(queue, 1, &other, 0, 0, nullptr, nullptr), "migrate");
  auto* mapped = static_cast<cl_uint*>(clEnqueueMapBuffer(queue, other, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                                          0, sizeof words, 0, nullptr, nullptr, &status));
  require(status, "map");
  printf("words %u %u %u %u\n", words[0], words[1], words[2], mapped[2]);
  require(clEnqueueUnmapMemObject(queue, other, mapped, 0, nullptr, nullptr), "unmap");
  void* no_map =
      clEnqueueMapBuffer(queue, other, CL_TRUE, CL_MAP_READ, 4096, 4096, 0, nullptr, nullptr, &status);
  printf("map beyond the end: %d\n", no_map == nullptr && status != CL_SUCCESS);
  require(clEnqueueBarrier(queue), "barrier");
  cl_event marker = nullptr;
  require(clEnqueueMarker(queue, &marker), "marker");
  clReleaseEvent(marker);
  cl_device_exec_capabilities capabilities = 0;
  clGetDeviceInfo(setting.device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof capabilities, &capabilities,
                  nullptr);
  if (capabilities & CL_EXEC_NATIVE_KERNEL) {
    void* arguments[] = {nullptr};
    const void* place = &arguments[0];
    require(clEnqueueNativeKernel(queue, native, arguments, sizeof arguments, 1, &setting.buffer, &place, 0,
                                  nullptr, nullptr),
            "native kernel");
  }
  cl_device_svm_capabilities svm = 0;
  clGetDeviceInfo(setting.device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, nullptr);
  if (svm & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) {
    void* memory = clSVMAlloc(setting.context, CL_MEM_READ_WRITE, sizeof words, 0);
    require(clEnqueueSVMMemFill(queue, memory, &pattern, 4, sizeof words, 0, nullptr, nullptr), "SVM fill");
    require(clEnqueueSVMMemcpy(queue, CL_TRUE, words, memory, sizeof words, 0, nullptr, nullptr), "SVM copy");
    require(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, memory, sizeof words, 0, nullptr, nullptr),
            "SVM map");
    require(clEnqueueSVMUnmap(queue, memory, 0, nullptr, nullptr), "SVM unmap");
    require(clFinish(queue), "clFinish");
    printf("shared %u\n", words[63]);
    clSVMFree(setting.context, memory);
  }
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = 4;
  cl_mem image = clCreateImage(setting.context, CL_MEM_READ_WRITE, &format, &description, nullptr, &status);
  if (image) {
    const cl_uint color[4] = {1, 2, 3, 4};
    require(clEnqueueFillImage(queue, image, color, origin, region, 0, nullptr, nullptr), "fill image");
    require(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, words, 0, nullptr, nullptr),
            "read image");
    require(clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, words, 0, nullptr, nullptr),
            "write image");
    require(clEnqueueCopyImageToBuffer(queue, image, other, origin, region, 0, 0, nullptr, nullptr),
            "image to buffer");
    require(clEnqueueCopyBufferToImage(queue, other, image, 0, origin, region, 0, nullptr, nullptr),
            "buffer to image");
    require(clFinish(queue), "clFinish");
    printf("pixel %08x\n", words[15]);
    clReleaseMemObject(image);
  }
  clReleaseMemObject(other);
  printf("sum %u\n", setting.sum(queue));
  return 0;
}

int threads() {
  const Setting setting;
  cl_command_queue common = setting.queue();
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i)
    all.emplace_back([&] {
      cl_command_queue own = setting.queue();
      cl_kernel kernel = setting.kernel("add");
      for (int j = 0; j < 250; ++j) {
        launch(common, kernel);
        cl_event event = nullptr;
        launch(own, kernel, 0, nullptr, &event);
        if (j % 10 == 0) require(clWaitForEvents(1, &event), "clWaitForEvents");
        clReleaseEvent(event);
      }
      require(clFinish(own), "clFinish");
      clReleaseKernel(kernel);
      clReleaseCommandQueue(own);
    });
  for (std::thread& thread : all) thread.join();
  printf("sum %u\n", setting.sum(common));
  return 0;
}

int many_queues() {
  const Setting setting;
  for (int i = 0; i < 3'000; ++i) {
    cl_command_queue queue = setting.queue();
    cl_kernel kernel = setting.kernel(i % 2 ? "add" : "work", i % 2 ? 0 : 10);
    launch(queue, kernel);
    clReleaseKernel(kernel);
    if (i % 2) require(clFinish(queue), "clFinish");
    clReleaseCommandQueue(queue);
  }
  cl_command_queue queue = setting.queue();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for commands that were not waited for
  printf("sum %u\n", setting.sum(queue));
  return 0;
}

// Exits with commands in progress, by exit or by _exit.
int outstanding(bool at_once) {
  const Setting setting;
  cl_command_queue queue = setting.queue();
  cl_kernel kernel = setting.kernel("work", 20'000'000);
  for (int i = 0; i < 20; ++i) launch(queue, kernel);
  require(clFlush(queue), "clFlush");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  printf("leaving\n");
  if (at_once) _exit(3);
  exit(3);
}

// Ends while its only kernel is in progress.
int killed() {
  const Setting setting;
  cl_command_queue queue = setting.queue();
  launch(queue, setting.kernel("work", 2'000'000'000));
  require(clFlush(queue), "clFlush");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  raise(SIGKILL);
  return 1;
}

void first_kernel(cl_command_queue queue, cl_kernel kernel, cl_event* event) {
  launch(queue, kernel, 0, nullptr, event);
}

void second_kernel(cl_command_queue queue, cl_kernel kernel, const cl_event* event) {
  launch(queue, kernel, event ? 1 : 0, event);
}

// Two queues, of which the second one waits in each step for the first, or does not.
int two_queues(bool by_event) {
  const Setting setting;
  cl_command_queue one = setting.queue(), other = setting.queue();
  cl_kernel first = setting.kernel("work", 5'000'000), second = setting.kernel("work", 5'000'000);
  constexpr cl_uint kSteps = 10;
  for (cl_uint i = 0; i < kSteps; ++i) {
    cl_event event = nullptr;
    first_kernel(one, first, &event);
    second_kernel(other, second, by_event ? &event : nullptr);
    require(clFlush(one), "clFlush");
    require(clFinish(other), "clFinish");
    require(clFinish(one), "clFinish");
    clReleaseEvent(event);
  }
  printf("%u kernels in two queues\n", 2 * kSteps);
  return 0;
}

int forks() {
  const Setting setting;
  cl_command_queue queue = setting.queue();
  cl_kernel kernel = setting.kernel("work", 5'000'000);
  for (int i = 0; i < 5; ++i) launch(queue, kernel);
  const pid_t child = fork();
  if (child == 0) {
    volatile unsigned x = 1;
    for (int i = 0; i < 50'000'000; ++i) x = x * 1664525u + 1;
    printf("child\n");
    _exit(5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  require(clFinish(queue), "clFinish");
  printf("child left with %d, sum %u\n", WEXITSTATUS(status), setting.sum(queue));
  return 0;
}

// The parent only loads OpenCL; the child uses it.
int fork_first() {
  cl_uint platforms = 0;
  clGetPlatformIDs(0, nullptr, &platforms);
  const pid_t child = fork();
  if (child == 0) {
    const Setting setting;
    cl_command_queue queue = setting.queue();
    launch(queue, setting.kernel("add"));
    printf("sum %u\n", setting.sum(queue));
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child left with %d\n", WEXITSTATUS(status));
  return WEXITSTATUS(status);
}

[[gnu::noinline]] void nap() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

[[gnu::noinline]] void compute_after_nap() {
  volatile unsigned x = 1;
  for (int i = 0; i < 3'000'000; ++i) x = x * 1664525u + 1;
}

// The device is idle while the program sleeps, and while it computes a little.
int naps() {
  const Setting setting;
  cl_command_queue queue = setting.queue();
  const cl_kernel kernel = setting.kernel("add");
  double napped = 0;
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    nap();
    napped += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    compute_after_nap();
    launch(queue, kernel);
    require(clFinish(queue), "clFinish");
  }
  fprintf(stderr, "napped %.6f\n", napped);
  return 0;
}

[[gnu::noinline]] void* wait_for_work(void* queue) {
  clFinish(static_cast<cl_command_queue>(queue));
  return nullptr;
}

// The state of the driver's locks does not matter afterwards: nothing of it is used any more.
int cancelled() {
  const Setting setting;
  cl_command_queue queue = setting.queue();
  launch(queue, setting.kernel("endless"));
  require(clFlush(queue), "clFlush");
  pthread_t thread{};
  pthread_create(&thread, nullptr, wait_for_work, queue);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  puts(result == PTHREAD_CANCELED ? "cancelled" : "returned");
  _exit(4);
}

int endless() {
  const Setting setting;
  cl_command_queue queue = setting.queue();
  launch(queue, setting.kernel("work", 1'000'000));
  require(clFinish(queue), "clFinish");
  launch(queue, setting.kernel("endless"));
  printf("launched\n");
  clFinish(queue);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "queries") return queries();
  if (what == "out-of-order") return out_of_order();
  if (what == "user-events") return user_events();
  if (what == "every-call") return every_call();
  if (what == "threads") return threads();
  if (what == "many-queues") return many_queues();
  if (what == "outstanding") return outstanding(false);
  if (what == "outstanding-at-once") return outstanding(true);
  if (what == "killed") return killed();
  if (what == "two-queues") return two_queues(false);
  if (what == "two-queues-by-event") return two_queues(true);
  if (what == "fork") return forks();
  if (what == "fork-first") return fork_first();
  if (what == "naps") return naps();
  if (what == "cancelled") return cancelled();
  if (what == "endless") return endless();
  fprintf(stderr, "name what to do\n");
  return 2;
}
