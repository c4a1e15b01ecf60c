#include "hpcrun/device/cuda/calls.h"

#include <dlfcn.h>

#include "hpcrun/device/cuda/driver_calls.h"
#include "hpcrun/device/cuda/extents.h"

namespace hpcrun::cuda {

namespace {

using Arguments = const void*;

// Reads `field` of a function's arguments, as CUPTI's headers describe them.
#define HPCRUN_FIELD(arguments, field) \
  [](Arguments call) noexcept -> CUstream { return static_cast<const arguments*>(call)->field; }

// The names of functions are macros of cuda.h, so a macro that takes one must paste it at once.
#define HPCRUN_DRIVER(symbol, id, kind, work, awaited, per_thread, stream, extent)                    \
  {                                                                                                   \
    CUPTI_CB_DOMAIN_DRIVER_API, id, symbol, CallKind::kind, Work::work, Awaited::awaited, per_thread, \
        stream, extent                                                                                \
  }
#define HPCRUN_ON_STREAM(function, name, version, kind, work, awaited, field)                                \
  HPCRUN_DRIVER(#function, CUPTI_DRIVER_TRACE_CBID_##function, kind, work, awaited, false,                   \
                HPCRUN_FIELD(function##_params, field), extent_of<function##_params>),                       \
      HPCRUN_DRIVER(#function "_ptsz", CUPTI_DRIVER_TRACE_CBID_##function##_ptsz, kind, work, awaited, true, \
                    HPCRUN_FIELD(function##_ptsz_params, field), extent_of<function##_ptsz_params>)
#define HPCRUN_ON_DEFAULT(function, name, version, kind, work, awaited)                                      \
  HPCRUN_DRIVER(#function, CUPTI_DRIVER_TRACE_CBID_##function, kind, work, awaited, false, nullptr,          \
                extent_of<function##_params>),                                                               \
      HPCRUN_DRIVER(#function "_ptds", CUPTI_DRIVER_TRACE_CBID_##function##_ptds, kind, work, awaited, true, \
                    nullptr, extent_of<function##_ptds_params>)
#define HPCRUN_PLAIN(function, name, version, kind, work, awaited) \
  HPCRUN_DRIVER(#function, CUPTI_DRIVER_TRACE_CBID_##function, kind, work, awaited, false, nullptr, nullptr)
#define HPCRUN_MAY_WAIT(function, name, version) \
  HPCRUN_DRIVER(#function, CUPTI_DRIVER_TRACE_CBID_##function, Block, None, Context, false, nullptr, nullptr)

#define HPCRUN_RUNTIME(function, version, kind)                                                              \
  {                                                                                                          \
    CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##function##_##version, #function, CallKind::kind, \
        Work::None, Awaited::Nothing, false, nullptr                                                         \
  }
// A launch by the runtime. It is recorded here and not in the driver's function, so that its path ends in
// what the program called.
#define HPCRUN_RUNTIME_LAUNCH(function, version, work, per_thread, symbol, field)                          \
  {                                                                                                        \
    CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##function##_##version, symbol, CallKind::Short, \
        Work::work, Awaited::Nothing, per_thread, HPCRUN_FIELD(function##_##version##_params, field)       \
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
    HPCRUN_STREAM_CALLS(HPCRUN_ON_STREAM),
    HPCRUN_DEFAULT_STREAM_CALLS(HPCRUN_ON_DEFAULT),
    HPCRUN_PLAIN_CALLS(HPCRUN_PLAIN),
    HPCRUN_CALLS_THAT_MAY_WAIT(HPCRUN_MAY_WAIT),
    HPCRUN_DRIVER("cuCtxSynchronize", CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, Wait, None, Context, false,
                  nullptr, nullptr),
    HPCRUN_DRIVER("cuGraphInstantiateWithParams_ptsz",
                  CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz, Block, Instantiate, Context,
                  true, nullptr, nullptr),

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

// Function names that are macros of cuda.h have changed their targets more than once.
constexpr bool is_once_each() noexcept {
  for (size_t i = 0; i < kCallCount; ++i)
    for (size_t j = 0; j < i; ++j)
      if (kCalls[i].domain == kCalls[j].domain && kCalls[i].id == kCalls[j].id) return false;
  return true;
}
static_assert(is_once_each());

// 1 + row, by callback id; functions with larger ids are not followed.
constexpr size_t kMaxIds = 1024;
constinit uint8_t driver_rows[kMaxIds] = {};
constinit uint8_t runtime_rows[kMaxIds] = {};
constinit const void* functions[kCallCount] = {};

}  // namespace

std::span<const FollowedCall> followed_calls() noexcept {
  return kCalls;
}

const FollowedCall* find_call(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
  if (id >= kMaxIds) return nullptr;
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
    if (call.id < kMaxIds) (is_driver ? driver_rows : runtime_rows)[call.id] = static_cast<uint8_t>(i + 1);
    functions[i] = dlsym(is_driver ? driver_library : RTLD_DEFAULT, call.symbol);
  }
  dlerror();  // the program must not see our errors
}

}  // namespace hpcrun::cuda
