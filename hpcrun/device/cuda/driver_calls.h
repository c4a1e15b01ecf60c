#pragma once
// Lists the functions of CUDA's driver that are followed: X(exported name, name and version for
// cuGetProcAddress(), kind of call, work submitted, what it waits for[, argument that is its stream]),
// comma-separated.

// Each has a variant whose stream 0 is the calling thread's own: for a stream that is an argument (_ptsz),
// and for stream 0 (_ptds).
#define HPCRUN_STREAM_CALLS(X)                                                                         \
  X(cuLaunchKernel, cuLaunchKernel, 4000, Short, Kernel, Nothing, hStream),                            \
      X(cuLaunchKernelEx, cuLaunchKernelEx, 11060, Short, Kernel, Nothing, config->hStream),           \
      X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000, Short, Kernel, Nothing, hStream),  \
      X(cuGraphLaunch, cuGraphLaunch, 10000, Short, Graph, Nothing, hStream),                          \
      X(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync, 3020, Short, CopyToDevice, Nothing, hStream),         \
      X(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync, 3020, Short, CopyToDevice, Nothing, hStream),         \
      X(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync, 3020, Short, CopyFromDevice, Nothing, hStream),       \
      X(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync, 3020, Short, CopyFromDevice, Nothing, hStream),       \
      X(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync, 3020, Short, Copy, Nothing, hStream),                 \
      X(cuMemcpyAsync, cuMemcpyAsync, 4000, Short, Copy, Nothing, hStream),                            \
      X(cuMemcpy2DAsync_v2, cuMemcpy2DAsync, 3020, Short, Copy, Nothing, hStream),                     \
      X(cuMemcpy3DAsync_v2, cuMemcpy3DAsync, 3020, Short, Copy, Nothing, hStream),                     \
      X(cuMemcpyPeerAsync, cuMemcpyPeerAsync, 4000, Short, Copy, Nothing, hStream),                    \
      X(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync, 4000, Short, Copy, Nothing, hStream),                \
      X(cuMemcpyBatchAsync, cuMemcpyBatchAsync, 12080, Short, Copy, Nothing, hStream),                 \
      X(cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync, 12080, Short, Copy, Nothing, hStream),             \
      X(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync, 13000, Short, Copy, Nothing, hStream),              \
      X(cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync, 13000, Short, Copy, Nothing, hStream),          \
      X(cuMemsetD8Async, cuMemsetD8Async, 3020, Short, Fill, Nothing, hStream),                        \
      X(cuMemsetD16Async, cuMemsetD16Async, 3020, Short, Fill, Nothing, hStream),                      \
      X(cuMemsetD32Async, cuMemsetD32Async, 3020, Short, Fill, Nothing, hStream),                      \
      X(cuMemsetD2D8Async, cuMemsetD2D8Async, 3020, Short, Fill, Nothing, hStream),                    \
      X(cuMemsetD2D16Async, cuMemsetD2D16Async, 3020, Short, Fill, Nothing, hStream),                  \
      X(cuMemsetD2D32Async, cuMemsetD2D32Async, 3020, Short, Fill, Nothing, hStream),                  \
      X(cuStreamSynchronize, cuStreamSynchronize, 2000, Wait, None, Stream, hStream),                  \
      X(cuEventRecord, cuEventRecord, 2000, Short, MarkEvent, Nothing, hStream),                       \
      X(cuEventRecordWithFlags, cuEventRecordWithFlags, 11010, Short, MarkEvent, Nothing, hStream),    \
      X(cuStreamBeginCapture_v2, cuStreamBeginCapture, 10010, Short, BeginCapture, Nothing, hStream),  \
      X(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, 12030, Short, BeginCapture, Nothing, \
        hStream),                                                                                      \
      X(cuStreamEndCapture, cuStreamEndCapture, 10000, Short, EndCapture, Nothing, hStream)

#define HPCRUN_DEFAULT_STREAM_CALLS(X)                                          \
  X(cuMemcpyHtoD_v2, cuMemcpyHtoD, 3020, Wait, CopyToDevice, Stream),           \
      X(cuMemcpyHtoA_v2, cuMemcpyHtoA, 3020, Wait, CopyToDevice, Stream),       \
      X(cuMemcpyDtoH_v2, cuMemcpyDtoH, 3020, Wait, CopyFromDevice, Stream),     \
      X(cuMemcpyAtoH_v2, cuMemcpyAtoH, 3020, Wait, CopyFromDevice, Stream),     \
      X(cuMemcpy, cuMemcpy, 4000, Wait, Copy, Stream),                          \
      X(cuMemcpy2D_v2, cuMemcpy2D, 3020, Wait, Copy, Stream),                   \
      X(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned, 3020, Wait, Copy, Stream), \
      X(cuMemcpy3D_v2, cuMemcpy3D, 3020, Wait, Copy,                            \
        Stream), /* Copies from device to device: they return at once. */       \
      X(cuMemcpyDtoD_v2, cuMemcpyDtoD, 3020, Short, Copy, Nothing),             \
      X(cuMemcpyDtoA_v2, cuMemcpyDtoA, 3020, Short, Copy, Nothing),             \
      X(cuMemcpyAtoD_v2, cuMemcpyAtoD, 3020, Short, Copy, Nothing),             \
      X(cuMemcpyAtoA_v2, cuMemcpyAtoA, 3020, Short, Copy, Nothing),             \
      X(cuMemcpyPeer, cuMemcpyPeer, 4000, Short, Copy, Nothing),                \
      X(cuMemcpy3DPeer, cuMemcpy3DPeer, 4000, Short, Copy, Nothing),            \
      X(cuMemsetD8_v2, cuMemsetD8, 3020, Short, Fill, Nothing),                 \
      X(cuMemsetD16_v2, cuMemsetD16, 3020, Short, Fill, Nothing),               \
      X(cuMemsetD32_v2, cuMemsetD32, 3020, Short, Fill, Nothing),               \
      X(cuMemsetD2D8_v2, cuMemsetD2D8, 3020, Short, Fill, Nothing),             \
      X(cuMemsetD2D16_v2, cuMemsetD2D16, 3020, Short, Fill, Nothing),           \
      X(cuMemsetD2D32_v2, cuMemsetD2D32, 3020, Short, Fill, Nothing)

// cuCtxSynchronize() has no arguments, and therefore no type for them. Users of this list add a row for it.
#define HPCRUN_PLAIN_CALLS(X)                                                                          \
  X(cuCtxSynchronize_v2, cuCtxSynchronize, 13000, Wait, None, Context),                                \
      X(cuEventSynchronize, cuEventSynchronize, 2000, Wait, None, Event),                              \
      X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, Block, Instantiate, Context), \
      X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000, Block, Instantiate, Context)

// May synchronize: memory, modules, contexts. X(exported name, name, version)
#define HPCRUN_CALLS_THAT_MAY_WAIT(X)                                                                      \
  X(cuGraphExecDestroy, cuGraphExecDestroy, 10000), X(cuMemAlloc_v2, cuMemAlloc, 3020),                    \
      X(cuMemAllocPitch_v2, cuMemAllocPitch, 3020), X(cuMemAllocManaged, cuMemAllocManaged, 6000),         \
      X(cuMemAllocHost_v2, cuMemAllocHost, 3020), X(cuMemHostAlloc, cuMemHostAlloc, 2020),                 \
      X(cuMemHostRegister_v2, cuMemHostRegister, 6050), X(cuMemHostUnregister, cuMemHostUnregister, 4000), \
      X(cuMemFree_v2, cuMemFree, 3020), X(cuMemFreeHost, cuMemFreeHost, 2000),                             \
      X(cuMemPoolTrimTo, cuMemPoolTrimTo, 11020), X(cuMemPoolDestroy, cuMemPoolDestroy, 11020),            \
      X(cuArrayCreate_v2, cuArrayCreate, 3020), X(cuArray3DCreate_v2, cuArray3DCreate, 3020),              \
      X(cuArrayDestroy, cuArrayDestroy, 2000), X(cuMipmappedArrayCreate, cuMipmappedArrayCreate, 5000),    \
      X(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy, 5000), X(cuModuleLoad, cuModuleLoad, 2000),      \
      X(cuModuleLoadData, cuModuleLoadData, 2000), X(cuModuleLoadDataEx, cuModuleLoadDataEx, 2010),        \
      X(cuModuleLoadFatBinary, cuModuleLoadFatBinary, 2000), X(cuModuleUnload, cuModuleUnload, 2000),      \
      X(cuLibraryLoadData, cuLibraryLoadData, 12000),                                                      \
      X(cuLibraryLoadFromFile, cuLibraryLoadFromFile, 12000), X(cuLibraryUnload, cuLibraryUnload, 12000),  \
      X(cuLinkAddData_v2, cuLinkAddData, 6050), X(cuLinkAddFile_v2, cuLinkAddFile, 6050),                  \
      X(cuLinkComplete, cuLinkComplete, 5050), X(cuCtxCreate_v2, cuCtxCreate, 3020),                       \
      X(cuCtxCreate_v3, cuCtxCreate, 11040), X(cuCtxCreate_v4, cuCtxCreate, 12050),                        \
      X(cuCtxDestroy_v2, cuCtxDestroy, 4000), X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000), \
      X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000),                                   \
      X(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 11000)
