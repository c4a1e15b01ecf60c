// libcudart.so.13 over the fake driver: a few functions that call the driver's, as NVIDIA's runtime does.

#include <cuda_runtime_api.h>

#include "fake_driver.h"

namespace {

cudaError_t runtime_call(CUpti_runtime_api_trace_cbid id, const char* name, const void* arguments,
                         const std::function<int()>& body, const char* symbol = nullptr) {
  return static_cast<cudaError_t>(fake::call(
      {CUPTI_CB_DOMAIN_RUNTIME_API, static_cast<CUpti_CallbackId>(id), name, arguments, symbol}, body));
}

}  // namespace

#define FAKE_CALL(function, version, ...)                     \
  const function##_##version##_params arguments{__VA_ARGS__}; \
  return runtime_call(CUPTI_RUNTIME_TRACE_CBID_##function##_##version, #function, &arguments, [&]() -> int
#define FAKE_END )

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  FAKE_CALL(cudaMalloc, v3020, memory, bytes) {
    return cuMemAlloc(reinterpret_cast<CUdeviceptr*>(memory), bytes);
  }
  FAKE_END;
}
cudaError_t cudaFree(void* memory) {
  FAKE_CALL(cudaFree, v3020, memory) {
    return cuMemFree(reinterpret_cast<CUdeviceptr>(memory));
  }
  FAKE_END;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  FAKE_CALL(cudaMemcpy, v3020, to, from, bytes, kind) {
    return kind == cudaMemcpyHostToDevice ? cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(to), from, bytes)
                                          : cuMemcpyDtoH(to, reinterpret_cast<CUdeviceptr>(from), bytes);
  }
  FAKE_END;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters, size_t shared,
                             cudaStream_t stream) {
  FAKE_CALL(cudaLaunchKernel, v7000, function, grid, block, parameters, shared, stream) {
    auto* const known = static_cast<CUfunction>(const_cast<void*>(function));
    return cuLaunchKernel(known, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                          static_cast<unsigned>(shared), stream, parameters, nullptr);
  }
  FAKE_END;
}
cudaError_t cudaDeviceSynchronize() {
  return runtime_call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize", nullptr,
                      [] { return cuCtxSynchronize(); });
}

}  // extern "C"
