// Is not linked with OpenCL: opens the loader while it runs. Prints the result of a kernel; status 77 without
// a device.

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>

#include <cstdio>

namespace {

void* loader = nullptr;

#define OPENED(name) reinterpret_cast<decltype(&::name)>(dlsym(loader, #name))

}  // namespace

int main() {
  loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (!loader || OPENED(clGetPlatformIDs)(1, &platform, nullptr) != CL_SUCCESS ||
      OPENED(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    printf("no OpenCL device\n");
    return 77;
  }
  cl_context context = OPENED(clCreateContext)(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = OPENED(clCreateCommandQueueWithProperties)(context, device, nullptr, nullptr);
  const char* source =
      "kernel void triple(global uint* data) { for (uint i = 0; i < 20000000; ++i) data[1] += i * data[0]; "
      "data[0] *= 3; }";
  cl_program program = OPENED(clCreateProgramWithSource)(context, 1, &source, nullptr, nullptr);
  OPENED(clBuildProgram)(program, 0, nullptr, "", nullptr, nullptr);
  cl_kernel kernel = OPENED(clCreateKernel)(program, "triple", nullptr);
  cl_uint words[2] = {14, 0};
  cl_mem buffer =
      OPENED(clCreateBuffer)(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof words, words, nullptr);
  OPENED(clSetKernelArg)(kernel, 0, sizeof buffer, &buffer);
  const size_t one = 1;
  OPENED(clEnqueueNDRangeKernel)(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  OPENED(clFinish)(queue);
  OPENED(clEnqueueReadBuffer)(queue, buffer, CL_TRUE, 0, sizeof words, words, 0, nullptr, nullptr);
  printf("%u\n", words[0]);
  return words[0] == 42 ? 0 : 1;
}
