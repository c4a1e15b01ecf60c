// overlap.cpp without its defect: the host's work, which needs neither kernel's result, is done while both of
// them run.

#include <cstdio>

#include "device.h"

namespace {

constexpr double kKernelMMs = 6, kKernelNMs = 4, kHostWorkMs = 8;

[[gnu::noinline]] void step(opencl::Device& device, const opencl::HostWork& host, cl_command_queue queue,
                            cl_kernel m, cl_kernel n, cl_mem buffer) {
  device.enqueue(queue, n, buffer, kKernelNMs);
  device.enqueue(queue, m, buffer, kKernelMMs);
  opencl::require(clFlush(queue), "clFlush");
  host.run(kHostWorkMs);
  const uint64_t begin = opencl::now_ns();
  opencl::require(clFinish(queue), "clFinish");
  device.add_wait(begin);
}

}  // namespace

int main(int argc, char** argv) {
  const opencl::Options options = opencl::parse_options(argc, argv, 60);
  const opencl::HostWork host;
  opencl::Device device(options);
  cl_command_queue queue = device.new_queue();
  cl_kernel m = device.new_kernel("KernelM");
  cl_kernel n = device.new_kernel("KernelN");
  cl_mem buffer = device.new_buffer(2 * sizeof(cl_uint));
  for (int i = 0; i < options.steps; ++i) step(device, host, queue, m, n, buffer);

  cl_uint launches = 0;
  opencl::require(
      clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof launches, &launches, 0, nullptr, device.event()),
      "clEnqueueReadBuffer");
  printf("%u kernels in %d steps\n", launches, options.steps);
  device.state_schedule();
  clReleaseMemObject(buffer);
  clReleaseKernel(n);
  clReleaseKernel(m);
  clReleaseCommandQueue(queue);
}
