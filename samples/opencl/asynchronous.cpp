// Waits for the device only at the end. The host takes longer to prepare a launch than the kernel runs, so
// the device is idle most of the time without any wait that shows it.

#include <cstdio>

#include "device.h"

namespace {

constexpr double kKernelMs = 3, kHostWorkMs = 7;

[[gnu::noinline]] void prepare_launch(const opencl::HostWork& host) {
  host.run(kHostWorkMs);
}

[[gnu::noinline]] void launch(opencl::Device& device, cl_command_queue queue, cl_kernel kernel,
                              cl_mem buffer) {
  device.enqueue(queue, kernel, buffer, kKernelMs);
  opencl::require(clFlush(queue), "clFlush");
}

}  // namespace

int main(int argc, char** argv) {
  const opencl::Options options = opencl::parse_options(argc, argv, 100);
  const opencl::HostWork host;
  opencl::Device device(options);
  cl_command_queue queue = device.new_queue();
  cl_kernel kernel = device.new_kernel("Filter");
  cl_mem buffer = device.new_buffer(2 * sizeof(cl_uint));
  for (int i = 0; i < options.steps; ++i) {
    prepare_launch(host);
    launch(device, queue, kernel, buffer);
  }
  cl_uint launches = 0;
  const uint64_t begin = opencl::now_ns();
  opencl::require(
      clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof launches, &launches, 0, nullptr, device.event()),
      "clEnqueueReadBuffer");
  device.add_wait(begin);
  printf("%u kernels in %d steps\n", launches, options.steps);
  device.state_schedule();
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseCommandQueue(queue);
}
