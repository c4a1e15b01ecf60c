// Uses CUDA's runtime as a shared library. With the fakes, a kernel is its handle in the driver, and its
// first parameter is its length in nanoseconds.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>

namespace {

[[gnu::noinline]] void step(CUfunction kernel) {
  void* memory = nullptr;
  uint32_t word = 7;
  uint64_t length = 2'000'000;
  void* parameters[] = {&length};
  cudaMalloc(&memory, 4096);
  cudaMemcpy(memory, &word, sizeof word, cudaMemcpyHostToDevice);
  cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), parameters, 0, nullptr);
  cudaDeviceSynchronize();
  cudaMemcpy(&word, memory, sizeof word, cudaMemcpyDeviceToHost);
  cudaFree(memory);
}

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  // NVIDIA's runtime does this by itself.
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS || cuModuleLoadData(&module, "") != CUDA_SUCCESS ||
      cuModuleGetFunction(&kernel, module, "Saxpy") != CUDA_SUCCESS)
    return 1;
  for (int i = 0; i < 25; ++i) step(kernel);
  printf("25 steps\n");
}
