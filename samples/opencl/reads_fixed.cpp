// reads.cpp without its defect: the next batch is submitted to the device before the host processes the
// result of this one.

#include <cstdio>

#include "device.h"

namespace {

constexpr double kKernelMs = 5, kHostWorkMs = 5;

struct Pipeline {
  opencl::Device& device;
  const opencl::HostWork& host;
  cl_command_queue queue;
  cl_kernel kernel;
  cl_mem buffer;
  cl_uint results = 0;
};

[[gnu::noinline]] void use_result(Pipeline& pipeline, cl_uint result) {
  pipeline.host.run(kHostWorkMs);
  pipeline.results += result;
}

[[gnu::noinline]] void compute_batch(Pipeline& pipeline) {
  pipeline.device.enqueue(pipeline.queue, pipeline.kernel, pipeline.buffer, kKernelMs);
}

[[gnu::noinline]] cl_event start_reading(Pipeline& pipeline, cl_uint& result) {
  cl_event read = nullptr;
  opencl::require(clEnqueueReadBuffer(pipeline.queue, pipeline.buffer, CL_FALSE, 0, sizeof result, &result, 0,
                                      nullptr, &read),
                  "clEnqueueReadBuffer");
  if (cl_event* kept = pipeline.device.event()) {
    clRetainEvent(read);
    *kept = read;
  }
  return read;
}

[[gnu::noinline]] void wait_for(Pipeline& pipeline, cl_event read) {
  const uint64_t begin = opencl::now_ns();
  opencl::require(clWaitForEvents(1, &read), "clWaitForEvents");
  pipeline.device.add_wait(begin);
  clReleaseEvent(read);
}

}  // namespace

int main(int argc, char** argv) {
  const opencl::Options options = opencl::parse_options(argc, argv, 80);
  const opencl::HostWork host;
  opencl::Device device(options);
  Pipeline pipeline{device, host, device.new_queue(), device.new_kernel("Filter"),
                    device.new_buffer(2 * sizeof(cl_uint))};
  cl_uint results[2] = {};
  cl_event reads[2] = {};
  for (int i = 0; i <= options.steps; ++i) {
    if (i < options.steps) {
      compute_batch(pipeline);
      reads[i % 2] = start_reading(pipeline, results[i % 2]);
    }
    if (i == 0) continue;
    wait_for(pipeline, reads[(i - 1) % 2]);
    use_result(pipeline, results[(i - 1) % 2]);
  }
  printf("sum %u of %d batches\n", pipeline.results, options.steps);
  device.state_schedule();
  clReleaseMemObject(pipeline.buffer);
  clReleaseKernel(pipeline.kernel);
  clReleaseCommandQueue(pipeline.queue);
}
