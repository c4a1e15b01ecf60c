#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <vector>

#include "device.h"
#include "shared.h"

namespace opencl {

namespace {

constexpr int kProcesses = 2;
constexpr double kKernelMs = 5, kHostWorkMs = 5;
constexpr int kMaxTasks = 100'000;

// Shared by both processes.
struct Meeting {
  pthread_barrier_t barrier;
  cl_uint launches[kProcesses];
  int tasks[kProcesses];
  uint64_t opened_ns[kProcesses], ended_ns[kProcesses];
  std::pair<uint64_t, uint64_t> times[kProcesses][kMaxTasks];
  std::pair<uint64_t, uint64_t> outstanding[kProcesses][kMaxTasks];
};

[[gnu::noinline]] void use_device(Device& device, cl_command_queue queue, cl_kernel kernel, cl_mem buffer) {
  device.enqueue(queue, kernel, buffer, kKernelMs);
  const uint64_t begin = now_ns();
  require(clFinish(queue), "clFinish");
  device.add_wait(begin);
}

[[gnu::noinline]] void work_on_host(const HostWork& host) {
  host.run(kHostWorkMs);
}

void work(const Options& options, Phases phases, int process, Meeting& meeting) {
  const HostWork host;
  Device device(options);
  meeting.opened_ns[process] = device.opened_ns();
  cl_command_queue queue = device.new_queue();
  cl_kernel kernel = device.new_kernel("Filter");
  cl_mem buffer = device.new_buffer(2 * sizeof(cl_uint));
  pthread_barrier_wait(&meeting.barrier);
  const bool host_first = phases == Phases::Alternate && process == 1;
  for (int half = 0; half < 2 * options.steps; ++half) {
    if ((half % 2 == 0) == host_first)
      work_on_host(host);
    else
      use_device(device, queue, kernel, buffer);
    pthread_barrier_wait(&meeting.barrier);
  }
  require(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(cl_uint), &meeting.launches[process], 0,
                              nullptr, device.event()),
          "clEnqueueReadBuffer");
  const auto times = device.schedule();
  const auto outstanding = device.outstanding();
  meeting.tasks[process] = static_cast<int>(std::min<size_t>(times.size(), kMaxTasks));
  std::copy_n(times.begin(), meeting.tasks[process], meeting.times[process]);
  std::copy_n(outstanding.begin(), meeting.tasks[process], meeting.outstanding[process]);
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseCommandQueue(queue);
  meeting.ended_ns[process] = now_ns();
}

void state_common_schedule(const Meeting& meeting, uint64_t since_ns) {
  std::vector<std::pair<uint64_t, uint64_t>> all;
  for (int process = 0; process < kProcesses; ++process)
    all.insert(all.end(), meeting.times[process], meeting.times[process] + meeting.tasks[process]);
  const double window = static_cast<double>(now_ns() - since_ns) * 1e-9;
  const double busy = static_cast<double>(covered(all)) * 1e-9;
  // For each process, from its own first use to its own end: the time in which nothing of its own is active
  // and the other process has nothing outstanding.
  double processes_idle = 0;
  for (int process = 0; process < kProcesses; ++process) {
    const int other = 1 - process;
    std::vector<std::pair<uint64_t, uint64_t>> seen(meeting.times[process],
                                                    meeting.times[process] + meeting.tasks[process]);
    seen.insert(seen.end(), meeting.outstanding[other], meeting.outstanding[other] + meeting.tasks[other]);
    const uint64_t used = meeting.ended_ns[process] - meeting.opened_ns[process];
    processes_idle += static_cast<double>(used - std::min(used, covered(seen))) * 1e-9;
  }
  fprintf(stderr, "processes_idle %.6f\n", processes_idle);
  fprintf(stderr, "device_window %.6f\ndevice_busy %.6f\ndevice_idle %.6f\ndevice_tasks %zu\n", window, busy,
          window - busy, all.size());
}

}  // namespace

int share_device(int argc, char** argv, Phases phases) {
  const Options options = parse_options(argc, argv, 60);
  void* memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* meeting = static_cast<Meeting*>(memory);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&meeting->barrier, &shared, kProcesses);

  const uint64_t begin = now_ns();
  const pid_t child = fork();  // before either uses OpenCL
  if (child < 0) return 1;
  work(options, phases, child == 0 ? 1 : 0, *meeting);
  if (child == 0) return 0;
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 1;
  printf("%u and %u kernels\n", meeting->launches[0], meeting->launches[1]);
  if (options.schedule) state_common_schedule(*meeting, begin);
  return 0;
}

}  // namespace opencl
