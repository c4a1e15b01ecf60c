// Twelve threads that synchronize in a barrier. In each round another one waits for a kernel first: "work", a
// long one; "wakeup", a short one after whose end the wait continues, as with a driver that polls only
// occasionally. Prints the durations of the waits for work and of the late wake-ups.

#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

#include "samples/opencl/device.h"

namespace {

constexpr unsigned kThreads = 12, kRounds = 6;
constexpr double kLongKernelMs = 200, kShortKernelMs = 2;
constexpr timespec kLate{0, 200'000'000};

pthread_barrier_t barrier;
thread_local bool wakes_late = false;
uint64_t late_ns = 0, waited_ns = 0;

struct Team {
  opencl::Device& device;
  cl_kernel kernel;
  bool wakes_late;
};

[[gnu::noinline]] void wait_for_kernel(const Team& team, cl_command_queue queue, cl_mem buffer) {
  team.device.enqueue(queue, team.kernel, buffer, team.wakes_late ? kShortKernelMs : kLongKernelMs);
  clFlush(queue);
  wakes_late = team.wakes_late;
  const uint64_t begin = opencl::now_ns();
  opencl::require(clFinish(queue), "clFinish");
  waited_ns += opencl::now_ns() - begin;
  wakes_late = false;
}

void meet(const Team& team, unsigned self) {
  const cl_command_queue queue = team.device.new_queue();
  const cl_mem buffer = team.device.new_buffer(2 * sizeof(cl_uint));
  pthread_barrier_wait(&barrier);
  for (unsigned round = 0; round < kRounds; ++round) {
    if (round == self) wait_for_kernel(team, queue, buffer);
    pthread_barrier_wait(&barrier);
  }
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
}

}  // namespace

// The function that PoCL waits with.
extern "C" int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static const auto next =
      reinterpret_cast<int (*)(pthread_cond_t*, pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_cond_wait"));
  const int result = next(condition, mutex);
  if (!wakes_late) return result;
  wakes_late = false;
  const uint64_t begin = opencl::now_ns();
  pthread_mutex_unlock(mutex);
  nanosleep(&kLate, nullptr);
  pthread_mutex_lock(mutex);
  late_ns += opencl::now_ns() - begin;
  return result;
}

int main(int, char** arguments) {
  opencl::Device device({});
  const Team team{device, device.new_kernel("KernelM"), std::string_view(arguments[1]) == "wakeup"};
  pthread_barrier_init(&barrier, nullptr, kThreads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(meet, team, i);
  for (std::thread& thread : threads) thread.join();
  fprintf(stderr, "late_s %f\nwork_s %f\n", static_cast<double>(late_ns) * 1e-9,
          static_cast<double>(waited_ns - late_ns) * 1e-9);
  clReleaseKernel(team.kernel);
}
