// Wraps calls for contexts, memory, programs and kernels. They work on the host, and with some drivers wait
// for the device, while it may be idle.

#include "hpcrun/device/opencl/queues.h"
#include "hpcrun/device/opencl/wrappers.h"

namespace hpcrun::opencl {

namespace {

template <typename Call>
auto blocking(const void* function, DeviceSet devices, Call call) noexcept {
  DeviceCall device_call(CallKind::Block, function);
  for (DeviceSet rest = devices; rest; rest &= rest - 1)
    device_call.waits_for_device(static_cast<DeviceIndex>(__builtin_ctz(rest)));
  return call();
}

template <typename Handle, typename Query>
DeviceSet devices_by(Handle handle, cl_uint which, Query query) noexcept {
  cl_context context = nullptr;
  if (!handle || query(handle, which, sizeof context, static_cast<void*>(&context), nullptr) != CL_SUCCESS)
    return 0;
  return devices_of_context(context);
}

DeviceSet devices_of(cl_context context) noexcept {
  return devices_of_context(context);
}
DeviceSet devices_of(cl_mem object) noexcept {
  return devices_by(object, CL_MEM_CONTEXT, next.clGetMemObjectInfo);
}
DeviceSet devices_of(cl_program program) noexcept {
  return devices_by(program, CL_PROGRAM_CONTEXT, next.clGetProgramInfo);
}
DeviceSet devices_of(cl_kernel kernel) noexcept {
  return devices_by(kernel, CL_KERNEL_CONTEXT, next.clGetKernelInfo);
}

}  // namespace

// Returns the result of `name` with the arguments, as a call that may wait for the devices of `handle`.
#define HPCRUN_BLOCKING(name, handle, ...)                   \
  return blocking(public_functions.name, devices_of(handle), \
                  [&]() noexcept { return next.name(__VA_ARGS__); })

namespace wrap {

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint count,
                                       const cl_device_id* devices,
                                       void(CL_CALLBACK* function)(const char*, const void*, size_t, void*),
                                       void* data, cl_int* error) {
  const DeviceCall call(CallKind::Block, public_functions.clCreateContext);
  cl_context context = next.clCreateContext(properties, count, devices, function, data, error);
  if (context) add_context(context);
  return context;
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties* properties, cl_device_type type,
                                               void(CL_CALLBACK* function)(const char*, const void*, size_t,
                                                                           void*),
                                               void* data, cl_int* error) {
  const DeviceCall call(CallKind::Block, public_functions.clCreateContextFromType);
  cl_context context = next.clCreateContextFromType(properties, type, function, data, error);
  if (context) add_context(context);
  return context;
}

cl_int CL_API_CALL clReleaseContext(cl_context context) {
  HPCRUN_BLOCKING(clReleaseContext, context, context);
}

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                                  cl_int* error) {
  HPCRUN_BLOCKING(clCreateBuffer, context, context, flags, bytes, host, error);
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties,
                                                cl_mem_flags flags, size_t bytes, void* host, cl_int* error) {
  HPCRUN_BLOCKING(clCreateBufferWithProperties, context, context, properties, flags, bytes, host, error);
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void* information, cl_int* error) {
  HPCRUN_BLOCKING(clCreateSubBuffer, buffer, buffer, flags, type, information, error);
}

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                 const cl_image_desc* description, void* host, cl_int* error) {
  HPCRUN_BLOCKING(clCreateImage, context, context, flags, format, description, host, error);
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties* properties,
                                               cl_mem_flags flags, const cl_image_format* format,
                                               const cl_image_desc* description, void* host, cl_int* error) {
  HPCRUN_BLOCKING(clCreateImageWithProperties, context, context, properties, flags, format, description, host,
                  error);
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                   size_t width, size_t height, size_t row, void* host, cl_int* error) {
  HPCRUN_BLOCKING(clCreateImage2D, context, context, flags, format, width, height, row, host, error);
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                   size_t width, size_t height, size_t depth, size_t row, size_t slice,
                                   void* host, cl_int* error) {
  HPCRUN_BLOCKING(clCreateImage3D, context, context, flags, format, width, height, depth, row, slice, host,
                  error);
}

cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint packets,
                                const cl_pipe_properties* properties, cl_int* error) {
  HPCRUN_BLOCKING(clCreatePipe, context, context, flags, packet_bytes, packets, properties, error);
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem object) {
  HPCRUN_BLOCKING(clReleaseMemObject, object, object);
}

void* CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment) {
  HPCRUN_BLOCKING(clSVMAlloc, context, context, flags, bytes, alignment);
}

void CL_API_CALL clSVMFree(cl_context context, void* memory) {
  HPCRUN_BLOCKING(clSVMFree, context, context, memory);
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts,
                                                 const size_t* lengths, cl_int* error) {
  HPCRUN_BLOCKING(clCreateProgramWithSource, context, context, count, texts, lengths, error);
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                 const cl_device_id* devices, const size_t* lengths,
                                                 const unsigned char** binaries, cl_int* statuses,
                                                 cl_int* error) {
  HPCRUN_BLOCKING(clCreateProgramWithBinary, context, context, count, devices, lengths, binaries, statuses,
                  error);
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void* code, size_t bytes,
                                             cl_int* error) {
  HPCRUN_BLOCKING(clCreateProgramWithIL, context, context, code, bytes, error);
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count,
                                                         const cl_device_id* devices, const char* names,
                                                         cl_int* error) {
  HPCRUN_BLOCKING(clCreateProgramWithBuiltInKernels, context, context, count, devices, names, error);
}

cl_int CL_API_CALL clReleaseProgram(cl_program program) {
  HPCRUN_BLOCKING(clReleaseProgram, program, program);
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                  const char* options, void(CL_CALLBACK* function)(cl_program, void*),
                                  void* data) {
  HPCRUN_BLOCKING(clBuildProgram, program, program, count, devices, options, function, data);
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint headers, const cl_program* list_of,
                                    const char** names, void(CL_CALLBACK* function)(cl_program, void*),
                                    void* data) {
  HPCRUN_BLOCKING(clCompileProgram, program, program, count, devices, options, headers, list_of, names,
                  function, data);
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint count, const cl_device_id* devices,
                                     const char* options, cl_uint programs, const cl_program* list_of,
                                     void(CL_CALLBACK* function)(cl_program, void*), void* data,
                                     cl_int* error) {
  HPCRUN_BLOCKING(clLinkProgram, context, context, count, devices, options, programs, list_of, function, data,
                  error);
}

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
  return blocking(public_functions.clUnloadPlatformCompiler, all_devices(),
                  [&]() noexcept { return next.clUnloadPlatformCompiler(platform); });
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name, cl_int* error) {
  return blocking(public_functions.clCreateKernel, devices_of(program), [&]() noexcept {
    cl_kernel kernel = next.clCreateKernel(program, name, error);
    if (kernel) remove_kernel(kernel);
    return kernel;
  });
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint count, cl_kernel* kernels,
                                            cl_uint* count_out) {
  return blocking(public_functions.clCreateKernelsInProgram, devices_of(program), [&]() noexcept {
    cl_uint made = 0;
    const cl_int status = next.clCreateKernelsInProgram(program, count, kernels, &made);
    if (status != CL_SUCCESS) return status;
    if (count_out) *count_out = made;
    for (cl_uint i = 0; kernels && i < made && i < count; ++i) remove_kernel(kernels[i]);
    return status;
  });
}

cl_kernel CL_API_CALL clCloneKernel(cl_kernel kernel, cl_int* error) {
  return blocking(public_functions.clCloneKernel, devices_of(kernel), [&]() noexcept {
    cl_kernel copy = next.clCloneKernel(kernel, error);
    if (copy) remove_kernel(copy);
    return copy;
  });
}

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) {
  HPCRUN_BLOCKING(clReleaseKernel, kernel, kernel);
}

}  // namespace wrap

}  // namespace hpcrun::opencl
