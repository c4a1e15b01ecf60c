// cuGetProcAddress(): returns the newest variant of a function, whatever version was requested, except for
// the functions that existed from the beginning.

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "fake_device.h"

namespace {

void* own(const std::string& symbol) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return dlsym(library, symbol.c_str());
}

CUresult launch_inside(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}

}  // namespace

extern "C" CUresult cuGetProcAddress_v2(const char* name, void** found, int version, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult* status) {
  *found = nullptr;
  if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) return CUDA_ERROR_NOT_FOUND;
  for (const char* variant : {"_v4", "_v2", ""})
    if (!*found && version >= 3020) *found = own(std::string(name) + variant);
  if (getenv("FAKE_CUDA_INNER") && std::string(name) == "cuLaunchKernel")
    *found = reinterpret_cast<void*>(launch_inside);
  if (status) *status = *found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
