#pragma once
// Declares the OpenCL functions that ours call, and the addresses at which the program calls them. Both are
// set once, by the loader's first call, before any of our functions can run.

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <CL/cl_layer.h>
#pragma GCC diagnostic pop

// Lists every function that we interpose on. All others (queries, arguments, events) take no device time and
// change nothing that we track.
#define HPCRUN_OPENCL_FUNCTIONS(X)      \
  /* enqueue_calls.cpp */               \
  X(clEnqueueNDRangeKernel)             \
  X(clEnqueueTask)                      \
  X(clEnqueueNativeKernel)              \
  X(clEnqueueReadBuffer)                \
  X(clEnqueueWriteBuffer)               \
  X(clEnqueueReadBufferRect)            \
  X(clEnqueueWriteBufferRect)           \
  X(clEnqueueCopyBuffer)                \
  X(clEnqueueCopyBufferRect)            \
  X(clEnqueueFillBuffer)                \
  X(clEnqueueReadImage)                 \
  X(clEnqueueWriteImage)                \
  X(clEnqueueCopyImage)                 \
  X(clEnqueueCopyImageToBuffer)         \
  X(clEnqueueCopyBufferToImage)         \
  X(clEnqueueFillImage)                 \
  X(clEnqueueMapBuffer)                 \
  X(clEnqueueMapImage)                  \
  X(clEnqueueUnmapMemObject)            \
  X(clEnqueueMigrateMemObjects)         \
  X(clEnqueueSVMMemcpy)                 \
  X(clEnqueueSVMMemFill)                \
  X(clEnqueueSVMMap)                    \
  X(clEnqueueSVMUnmap)                  \
  X(clEnqueueSVMMigrateMem)             \
  X(clEnqueueMarker)                    \
  X(clEnqueueMarkerWithWaitList)        \
  X(clEnqueueBarrier)                   \
  X(clEnqueueBarrierWithWaitList)       \
  X(clEnqueueWaitForEvents)             \
  X(clEnqueueSVMFree)                   \
  /* wait_calls.cpp */                  \
  X(clFinish)                           \
  X(clWaitForEvents)                    \
  X(clFlush)                            \
  X(clSetUserEventStatus)               \
  /* queue_calls.cpp */                 \
  X(clCreateCommandQueue)               \
  X(clCreateCommandQueueWithProperties) \
  X(clRetainCommandQueue)               \
  X(clReleaseCommandQueue)              \
  X(clGetCommandQueueInfo)              \
  X(clGetEventProfilingInfo)            \
  /* object_calls.cpp */                \
  X(clCreateContext)                    \
  X(clCreateContextFromType)            \
  X(clReleaseContext)                   \
  X(clCreateBuffer)                     \
  X(clCreateBufferWithProperties)       \
  X(clCreateSubBuffer)                  \
  X(clCreateImage)                      \
  X(clCreateImageWithProperties)        \
  X(clCreateImage2D)                    \
  X(clCreateImage3D)                    \
  X(clCreatePipe)                       \
  X(clReleaseMemObject)                 \
  X(clSVMAlloc)                         \
  X(clSVMFree)                          \
  X(clCreateProgramWithSource)          \
  X(clCreateProgramWithBinary)          \
  X(clCreateProgramWithIL)              \
  X(clCreateProgramWithBuiltInKernels)  \
  X(clReleaseProgram)                   \
  X(clBuildProgram)                     \
  X(clCompileProgram)                   \
  X(clLinkProgram)                      \
  X(clUnloadPlatformCompiler)           \
  X(clCreateKernel)                     \
  X(clCreateKernelsInProgram)           \
  X(clCloneKernel)                      \
  X(clReleaseKernel)

namespace hpcrun::opencl {

// The functions that ours call.
extern cl_icd_dispatch next;

// The function that the program calls, for each: it represents the call in call paths. nullptr if it is not
// known.
struct PublicFunctions {
#define HPCRUN_OPENCL_MEMBER(name) const void* name;
  HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_MEMBER)
#undef HPCRUN_OPENCL_MEMBER
};
extern PublicFunctions public_functions;

}  // namespace hpcrun::opencl
