// Defect: with two kernels in every step, the host works while KernelM runs and waits while KernelN runs. KernelM takes
// longer, but making it faster gains nothing. Built with -DFIXED the host's work, which needs neither kernel's result,
// is done while both of them run.

#include <cstdio>

#include "device.h"

namespace {

constexpr double kKernelM = 6, kKernelN = 4, kHostWork = 8;  // milliseconds

__global__ void KernelM(uint32_t* data, uint64_t turns) {
  cuda::spin(data, turns);
}
__global__ void KernelN(uint32_t* data, uint64_t turns) {
  cuda::spin(data, turns);
}

__attribute__((noinline)) void step(uint32_t* data, double per_millisecond) {
  KernelN<<<1, 1>>>(data, static_cast<uint64_t>(kKernelN * per_millisecond));
#ifndef FIXED
  cuda::require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // the host has work that does not need KernelN's result
#endif
  KernelM<<<1, 1>>>(data, static_cast<uint64_t>(kKernelM * per_millisecond));
  cuda::host_work(kHostWork);
  cuda::require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = cuda::steps(argc, argv, 60);
  const double per_millisecond = cuda::turns_per_millisecond();
  uint32_t* data = nullptr;
  cuda::require(cudaMalloc(&data, 2 * sizeof *data), "cudaMalloc");
  cuda::require(cudaMemset(data, 0, 2 * sizeof *data), "cudaMemset");
  for (int i = 0; i < steps; ++i) step(data, per_millisecond);
  uint32_t launches = 0;
  cuda::require(cudaMemcpy(&launches, data, sizeof launches, cudaMemcpyDeviceToHost), "cudaMemcpy");
  printf("%u kernels in %d steps\n", launches, steps);
  cuda::require(cudaFree(data), "cudaFree");
}
