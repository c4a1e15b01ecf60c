// Defect: a pipeline reads the result of each batch with a blocking call. Only the host's work needs it, and
// that could be done while the next batch is computed.

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

[[gnu::noinline]] cl_uint read_result(Pipeline& pipeline) {
  cl_uint result = 0;
  const uint64_t begin = opencl::now_ns();
  opencl::require(clEnqueueReadBuffer(pipeline.queue, pipeline.buffer, CL_TRUE, 0, sizeof result, &result, 0,
                                      nullptr, pipeline.device.event()),
                  "clEnqueueReadBuffer");
  pipeline.device.add_wait(begin);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const opencl::Options options = opencl::parse_options(argc, argv, 80);
  const opencl::HostWork host;
  opencl::Device device(options);
  Pipeline pipeline{device, host, device.new_queue(), device.new_kernel("Filter"),
                    device.new_buffer(2 * sizeof(cl_uint))};
  for (int i = 0; i < options.steps; ++i) {
    compute_batch(pipeline);
    use_result(pipeline, read_result(pipeline));
  }
  printf("sum %u of %d batches\n", pipeline.results, options.steps);
  device.state_schedule();
  clReleaseMemObject(pipeline.buffer);
  clReleaseKernel(pipeline.kernel);
  clReleaseCommandQueue(pipeline.queue);
}
