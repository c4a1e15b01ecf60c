// Defect: temporaries are allocated and freed in every time step, while the device is idle.

#include <malloc.h>

#include <cstdio>
#include <vector>

#include "device.h"

namespace {

constexpr double kKernelMs = 5;
constexpr size_t kTemporaryBytes = 8 << 20;
constexpr int kTemporaries = 3;

struct Temporaries {
  cl_mem buffers[kTemporaries];
};

[[gnu::noinline]] Temporaries allocate_temporaries(const opencl::Device& device,
                                                   std::vector<cl_uchar>& zeros) {
  Temporaries made{};
  for (cl_mem& buffer : made.buffers) {
    cl_int status = CL_SUCCESS;
    buffer = clCreateBuffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, zeros.size(),
                            zeros.data(), &status);
    opencl::require(status, "clCreateBuffer");
  }
  return made;
}

[[gnu::noinline]] void free_temporaries(const Temporaries& temporaries) {
  for (cl_mem buffer : temporaries.buffers) opencl::require(clReleaseMemObject(buffer), "clReleaseMemObject");
}

[[gnu::noinline]] cl_uint time_step(opencl::Device& device, cl_command_queue queue, cl_kernel kernel,
                                    std::vector<cl_uchar>& zeros) {
  const Temporaries temporaries = allocate_temporaries(device, zeros);
  for (cl_mem buffer : temporaries.buffers) device.enqueue(queue, kernel, buffer, kKernelMs / kTemporaries);
  cl_uint launches = 0;
  const uint64_t begin = opencl::now_ns();
  opencl::require(clEnqueueReadBuffer(queue, temporaries.buffers[0], CL_TRUE, 0, sizeof launches, &launches,
                                      0, nullptr, device.event()),
                  "clEnqueueReadBuffer");
  device.add_wait(begin);
  free_temporaries(temporaries);
  return launches;
}

}  // namespace

int main(int argc, char** argv) {
  // PoCL's buffers come from the heap, which may or may not return memory to the system. A device's driver
  // always does.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const opencl::Options options = opencl::parse_options(argc, argv, 60);
  opencl::Device device(options);
  cl_command_queue queue = device.new_queue();
  cl_kernel kernel = device.new_kernel("CalcForces");
  std::vector<cl_uchar> zeros(kTemporaryBytes);
  cl_uint last = 0;
  for (int i = 0; i < options.steps; ++i)
    last = time_step(device, queue, kernel, zeros) > 0 ? last + 1 : last;
  printf("%u of %d steps\n", last, options.steps);
  device.state_schedule();
  clReleaseKernel(kernel);
  clReleaseCommandQueue(queue);
}
