// The driver's functions for calls.cpp, found as CUDA's runtime finds them: libcuda.so.1 is opened, and the
// functions are looked up before it is initialised.

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

void* find(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  static const auto look_up =
      library ? reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(library, "cuGetProcAddress_v2"))
              : nullptr;
  void* found = nullptr;
  if (!look_up || look_up(name, &found, CUDA_VERSION, 0, nullptr) != CUDA_SUCCESS) {
    printf("no %s\n", name);
    exit(1);
  }
  return found;
}

}  // namespace

// Defines the program's function, which jumps to the driver's function of that name.
#define LOADED(function, name)                                                                             \
  extern "C" {                                                                                             \
  __attribute__((used)) void* loaded_##function;                                                           \
  }                                                                                                        \
  [[gnu::constructor]] static void find_##function() {                                                     \
    loaded_##function = find(name);                                                                        \
  }                                                                                                        \
  asm(".text\n.globl " #function "\n.type " #function ", @function\n" #function ": jmp *loaded_" #function \
      "(%rip)\n")

LOADED(cuInit, "cuInit");
LOADED(cuDeviceGet, "cuDeviceGet");
LOADED(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
LOADED(cuCtxSetCurrent, "cuCtxSetCurrent");
LOADED(cuCtxSynchronize, "cuCtxSynchronize");
LOADED(cuCtxCreate_v4, "cuCtxCreate");
LOADED(cuCtxDestroy_v2, "cuCtxDestroy");
LOADED(cuModuleLoadData, "cuModuleLoadData");
LOADED(cuModuleGetFunction, "cuModuleGetFunction");
LOADED(cuStreamCreate, "cuStreamCreate");
LOADED(cuStreamDestroy_v2, "cuStreamDestroy");
LOADED(cuStreamSynchronize, "cuStreamSynchronize");
LOADED(cuStreamBeginCapture_v2, "cuStreamBeginCapture");
LOADED(cuStreamEndCapture, "cuStreamEndCapture");
LOADED(cuEventCreate, "cuEventCreate");
LOADED(cuEventRecord, "cuEventRecord");
LOADED(cuEventSynchronize, "cuEventSynchronize");
LOADED(cuLaunchKernel, "cuLaunchKernel");
LOADED(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
LOADED(cuGraphLaunch, "cuGraphLaunch");
LOADED(cuGraphGetNodes, "cuGraphGetNodes");
LOADED(cuMemAlloc_v2, "cuMemAlloc");
LOADED(cuMemFree_v2, "cuMemFree");
LOADED(cuMemcpyHtoD_v2, "cuMemcpyHtoD");
LOADED(cuMemcpyDtoH_v2, "cuMemcpyDtoH");
LOADED(cuMemHostAlloc, "cuMemHostAlloc");
LOADED(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync");
LOADED(cuMemcpyAsync, "cuMemcpyAsync");
LOADED(cuMemsetD8Async, "cuMemsetD8Async");
LOADED(fake_node_name, "fake_node_name");
