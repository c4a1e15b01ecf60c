#include "hpcrun/device/cuda/calls.h"

#include <dlfcn.h>

namespace hpcrun::cuda {

namespace {

using Arguments = const void*;

// Reads `field` of the arguments of `function`, as the header of that name describes them.
#define HPCRUN_FIELD(function, field) \
  [](Arguments call) noexcept -> CUstream { return static_cast<const function##_params*>(call)->field; }

#define HPCRUN_DRIVER(function, kind, work, awaited, per_thread, stream)                                   \
  {                                                                                                        \
    CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##function, #function, CallKind::kind, Work::work, \
        Awaited::awaited, per_thread, stream                                                               \
  }

// Function, kind, work: on the stream that the argument `field` names, in both variants of the default
// stream.
#define HPCRUN_ON_STREAM(function, kind, work, awaited, field)                        \
  HPCRUN_DRIVER(function, kind, work, awaited, false, HPCRUN_FIELD(function, field)), \
      HPCRUN_DRIVER(function##_ptsz, kind, work, awaited, true, HPCRUN_FIELD(function##_ptsz, field))

// On the default stream, in both variants.
#define HPCRUN_ON_DEFAULT(function, kind, work, awaited)        \
  HPCRUN_DRIVER(function, kind, work, awaited, false, nullptr), \
      HPCRUN_DRIVER(function##_ptds, kind, work, awaited, true, nullptr)

// May synchronise: memory, modules, contexts.
#define HPCRUN_MAY_WAIT(function) HPCRUN_DRIVER(function, Block, None, Context, false, nullptr)

#define HPCRUN_RUNTIME(function, version, kind)                                                              \
  {                                                                                                          \
    CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##function##_##version, #function, CallKind::kind, \
        Work::None, Awaited::Nothing, false, nullptr                                                         \
  }
// A launch, which is noted here and not in the driver's function, so that its path ends in what the program
// called.
#define HPCRUN_RUNTIME_LAUNCH(function, version, work, per_thread, symbol, field)                          \
  {                                                                                                        \
    CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##function##_##version, symbol, CallKind::Short, \
        Work::work, Awaited::Nothing, per_thread, HPCRUN_FIELD(function##_##version, field)                \
  }
#define HPCRUN_RUNTIME_LAUNCHES(function, version, work, field)            \
  HPCRUN_RUNTIME_LAUNCH(function, version, work, false, #function, field), \
      HPCRUN_RUNTIME_LAUNCH(function##_ptsz, version, work, true, #function "_ptsz", field)
#define HPCRUN_RUNTIME_ON_STREAM(function, version, variant, kind) \
  HPCRUN_RUNTIME(function, version, kind), HPCRUN_RUNTIME(function##_ptsz, variant, kind)
#define HPCRUN_RUNTIME_ON_DEFAULT(function, version, kind) \
  HPCRUN_RUNTIME(function, version, kind), HPCRUN_RUNTIME(function##_ptds, v7000, kind)

}  // namespace

constexpr FollowedCall kCalls[] = {
    HPCRUN_ON_STREAM(cuLaunchKernel, Short, Kernel, Nothing, hStream),
    HPCRUN_ON_STREAM(cuLaunchKernelEx, Short, Kernel, Nothing, config->hStream),
    HPCRUN_ON_STREAM(cuLaunchCooperativeKernel, Short, Kernel, Nothing, hStream),
    HPCRUN_ON_STREAM(cuGraphLaunch, Short, Graph, Nothing, hStream),

    HPCRUN_ON_DEFAULT(cuMemcpyHtoD_v2, Wait, CopyToDevice, Stream),
    HPCRUN_ON_DEFAULT(cuMemcpyHtoA_v2, Wait, CopyToDevice, Stream),
    HPCRUN_ON_DEFAULT(cuMemcpyDtoH_v2, Wait, CopyFromDevice, Stream),
    HPCRUN_ON_DEFAULT(cuMemcpyAtoH_v2, Wait, CopyFromDevice, Stream),
    HPCRUN_ON_DEFAULT(cuMemcpy, Wait, Copy, Stream),
    HPCRUN_ON_DEFAULT(cuMemcpy2D_v2, Wait, Copy, Stream),
    HPCRUN_ON_DEFAULT(cuMemcpy2DUnaligned_v2, Wait, Copy, Stream),
    HPCRUN_ON_DEFAULT(cuMemcpy3D_v2, Wait, Copy, Stream),
    // Copies between places of a device return at once.
    HPCRUN_ON_DEFAULT(cuMemcpyDtoD_v2, Short, Copy, Nothing),
    HPCRUN_ON_DEFAULT(cuMemcpyDtoA_v2, Short, Copy, Nothing),
    HPCRUN_ON_DEFAULT(cuMemcpyAtoD_v2, Short, Copy, Nothing),
    HPCRUN_ON_DEFAULT(cuMemcpyAtoA_v2, Short, Copy, Nothing),
    HPCRUN_ON_DEFAULT(cuMemcpyPeer, Short, Copy, Nothing),
    HPCRUN_ON_DEFAULT(cuMemcpy3DPeer, Short, Copy, Nothing),
    HPCRUN_ON_STREAM(cuMemcpyHtoDAsync_v2, Short, CopyToDevice, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpyHtoAAsync_v2, Short, CopyToDevice, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpyDtoHAsync_v2, Short, CopyFromDevice, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpyAtoHAsync_v2, Short, CopyFromDevice, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpyDtoDAsync_v2, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpyAsync, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpy2DAsync_v2, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpy3DAsync_v2, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpyPeerAsync, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpy3DPeerAsync, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpyBatchAsync, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpy3DBatchAsync, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpyBatchAsync_v2, Short, Copy, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemcpy3DBatchAsync_v2, Short, Copy, Nothing, hStream),

    HPCRUN_ON_DEFAULT(cuMemsetD8_v2, Short, Fill, Nothing),
    HPCRUN_ON_DEFAULT(cuMemsetD16_v2, Short, Fill, Nothing),
    HPCRUN_ON_DEFAULT(cuMemsetD32_v2, Short, Fill, Nothing),
    HPCRUN_ON_DEFAULT(cuMemsetD2D8_v2, Short, Fill, Nothing),
    HPCRUN_ON_DEFAULT(cuMemsetD2D16_v2, Short, Fill, Nothing),
    HPCRUN_ON_DEFAULT(cuMemsetD2D32_v2, Short, Fill, Nothing),
    HPCRUN_ON_STREAM(cuMemsetD8Async, Short, Fill, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemsetD16Async, Short, Fill, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemsetD32Async, Short, Fill, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemsetD2D8Async, Short, Fill, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemsetD2D16Async, Short, Fill, Nothing, hStream),
    HPCRUN_ON_STREAM(cuMemsetD2D32Async, Short, Fill, Nothing, hStream),

    HPCRUN_DRIVER(cuCtxSynchronize, Wait, None, Context, false, nullptr),
    HPCRUN_DRIVER(cuCtxSynchronize_v2, Wait, None, Context, false, nullptr),
    HPCRUN_ON_STREAM(cuStreamSynchronize, Wait, None, Stream, hStream),
    HPCRUN_DRIVER(cuEventSynchronize, Wait, None, Event, false, nullptr),
    HPCRUN_ON_STREAM(cuEventRecord, Short, MarkEvent, Nothing, hStream),
    HPCRUN_ON_STREAM(cuEventRecordWithFlags, Short, MarkEvent, Nothing, hStream),

    HPCRUN_ON_STREAM(cuStreamBeginCapture_v2, Short, BeginCapture, Nothing, hStream),
    HPCRUN_ON_STREAM(cuStreamBeginCaptureToGraph, Short, BeginCapture, Nothing, hStream),
    HPCRUN_ON_STREAM(cuStreamEndCapture, Short, EndCapture, Nothing, hStream),
    HPCRUN_DRIVER(cuGraphInstantiateWithFlags, Block, Instantiate, Context, false, nullptr),
    HPCRUN_DRIVER(cuGraphInstantiateWithParams, Block, Instantiate, Context, false, nullptr),
    HPCRUN_DRIVER(cuGraphInstantiateWithParams_ptsz, Block, Instantiate, Context, true, nullptr),
    HPCRUN_MAY_WAIT(cuGraphExecDestroy),

    HPCRUN_MAY_WAIT(cuMemAlloc_v2),
    HPCRUN_MAY_WAIT(cuMemAllocPitch_v2),
    HPCRUN_MAY_WAIT(cuMemAllocManaged),
    HPCRUN_MAY_WAIT(cuMemAllocHost_v2),
    HPCRUN_MAY_WAIT(cuMemHostAlloc),
    HPCRUN_MAY_WAIT(cuMemHostRegister_v2),
    HPCRUN_MAY_WAIT(cuMemHostUnregister),
    HPCRUN_MAY_WAIT(cuMemFree_v2),
    HPCRUN_MAY_WAIT(cuMemFreeHost),
    HPCRUN_MAY_WAIT(cuMemPoolTrimTo),
    HPCRUN_MAY_WAIT(cuMemPoolDestroy),
    HPCRUN_MAY_WAIT(cuArrayCreate_v2),
    HPCRUN_MAY_WAIT(cuArray3DCreate_v2),
    HPCRUN_MAY_WAIT(cuArrayDestroy),
    HPCRUN_MAY_WAIT(cuMipmappedArrayCreate),
    HPCRUN_MAY_WAIT(cuMipmappedArrayDestroy),
    HPCRUN_MAY_WAIT(cuModuleLoad),
    HPCRUN_MAY_WAIT(cuModuleLoadData),
    HPCRUN_MAY_WAIT(cuModuleLoadDataEx),
    HPCRUN_MAY_WAIT(cuModuleLoadFatBinary),
    HPCRUN_MAY_WAIT(cuModuleUnload),
    HPCRUN_MAY_WAIT(cuLibraryLoadData),
    HPCRUN_MAY_WAIT(cuLibraryLoadFromFile),
    HPCRUN_MAY_WAIT(cuLibraryUnload),
    HPCRUN_MAY_WAIT(cuLinkAddData_v2),
    HPCRUN_MAY_WAIT(cuLinkAddFile_v2),
    HPCRUN_MAY_WAIT(cuLinkComplete),
    HPCRUN_MAY_WAIT(cuCtxCreate_v2),
    HPCRUN_MAY_WAIT(cuCtxCreate_v3),
    HPCRUN_MAY_WAIT(cuCtxCreate_v4),
    HPCRUN_MAY_WAIT(cuCtxDestroy_v2),
    HPCRUN_MAY_WAIT(cuDevicePrimaryCtxRetain),
    HPCRUN_MAY_WAIT(cuDevicePrimaryCtxRelease_v2),
    HPCRUN_MAY_WAIT(cuDevicePrimaryCtxReset_v2),

    HPCRUN_RUNTIME_LAUNCHES(cudaLaunchKernel, v7000, Kernel, stream),
    HPCRUN_RUNTIME_LAUNCHES(cudaLaunchKernelExC, v11060, Kernel, config->stream),
    HPCRUN_RUNTIME_LAUNCHES(cudaLaunchCooperativeKernel, v9000, Kernel, stream),
    HPCRUN_RUNTIME_LAUNCHES(cudaGraphLaunch, v10000, Graph, stream),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemcpy, v3020, Wait),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemcpy2D, v3020, Wait),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemcpy2DToArray, v3020, Wait),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemcpy2DFromArray, v3020, Wait),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemcpyToSymbol, v3020, Wait),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemcpyFromSymbol, v3020, Wait),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemcpy3D, v3020, Wait),
    HPCRUN_RUNTIME(cudaMemcpyPeer, v4000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpyAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpy2DAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpy2DToArrayAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpy2DFromArrayAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpyToSymbolAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpyFromSymbolAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpy3DAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME(cudaMemcpyPeerAsync, v4000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpyBatchAsync, v12080, v12080, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemcpyBatchAsync, v13000, v13000, Short),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemset, v3020, Short),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemset2D, v3020, Short),
    HPCRUN_RUNTIME_ON_DEFAULT(cudaMemset3D, v3020, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemsetAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemset2DAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME_ON_STREAM(cudaMemset3DAsync, v3020, v7000, Short),
    HPCRUN_RUNTIME(cudaDeviceSynchronize, v3020, Wait),
    HPCRUN_RUNTIME(cudaThreadSynchronize, v3020, Wait),
    HPCRUN_RUNTIME_ON_STREAM(cudaStreamSynchronize, v3020, v7000, Wait),
    HPCRUN_RUNTIME(cudaEventSynchronize, v3020, Wait),
    HPCRUN_RUNTIME_ON_STREAM(cudaEventRecord, v3020, v7000, Short),
    HPCRUN_RUNTIME(cudaMalloc, v3020, Block),
    HPCRUN_RUNTIME(cudaMallocPitch, v3020, Block),
    HPCRUN_RUNTIME(cudaMallocManaged, v6000, Block),
    HPCRUN_RUNTIME(cudaMallocHost, v3020, Block),
    HPCRUN_RUNTIME(cudaHostAlloc, v3020, Block),
    HPCRUN_RUNTIME(cudaHostRegister, v4000, Block),
    HPCRUN_RUNTIME(cudaHostUnregister, v4000, Block),
    HPCRUN_RUNTIME(cudaMalloc3D, v3020, Block),
    HPCRUN_RUNTIME(cudaMallocArray, v3020, Block),
    HPCRUN_RUNTIME(cudaMalloc3DArray, v3020, Block),
    HPCRUN_RUNTIME(cudaFree, v3020, Block),
    HPCRUN_RUNTIME(cudaFreeHost, v3020, Block),
    HPCRUN_RUNTIME(cudaFreeArray, v3020, Block),
    HPCRUN_RUNTIME(cudaSetDevice, v3020, Block),
    HPCRUN_RUNTIME(cudaDeviceReset, v3020, Block),
    HPCRUN_RUNTIME(cudaGraphInstantiate, v12000, Block),
    HPCRUN_RUNTIME(cudaGraphInstantiateWithFlags, v11040, Block),
    HPCRUN_RUNTIME_ON_STREAM(cudaGraphInstantiateWithParams, v12000, v12000, Block),
    HPCRUN_RUNTIME(cudaLibraryLoadData, v12060, Block),
    HPCRUN_RUNTIME(cudaLibraryLoadFromFile, v12060, Block),
    HPCRUN_RUNTIME(cudaLibraryUnload, v12060, Block),
};

namespace {

constexpr size_t kCallCount = sizeof kCalls / sizeof kCalls[0];
static_assert(kCallCount < 255);

// 1 + row, by callback id; larger ids are those of functions that are not followed.
constexpr size_t kMostIds = 1024;
constinit uint8_t driver_rows[kMostIds] = {};
constinit uint8_t runtime_rows[kMostIds] = {};
constinit const void* functions[kCallCount] = {};

}  // namespace

std::span<const FollowedCall> followed_calls() noexcept {
  return kCalls;
}

const FollowedCall* find_call(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
  if (id >= kMostIds) return nullptr;
  const uint8_t row = (domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver_rows : runtime_rows)[id];
  return row ? &kCalls[row - 1] : nullptr;
}

const void* function_of(const FollowedCall& call) noexcept {
  return functions[&call - kCalls];
}

void prepare_calls(void* driver_library) noexcept {
  for (size_t i = 0; i < kCallCount; ++i) {
    const FollowedCall& call = kCalls[i];
    const bool is_driver = call.domain == CUPTI_CB_DOMAIN_DRIVER_API;
    if (call.id < kMostIds) (is_driver ? driver_rows : runtime_rows)[call.id] = static_cast<uint8_t>(i + 1);
    functions[i] = dlsym(is_driver ? driver_library : RTLD_DEFAULT, call.symbol);
  }
  dlerror();  // the program must not find our failures
}

}  // namespace hpcrun::cuda
