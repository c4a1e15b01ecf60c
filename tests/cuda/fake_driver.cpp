// libcuda.so.1 of a machine without a GPU: the functions that the tests' programs use, over the schedule of
// fake_driver.h. FAKE_CUDA_SCHEDULE names a file for the result, in seconds, one "name value" per line.
// FAKE_CUDA_RUNTIME_IDS=1: tasks submitted by the runtime's calls have the ids of these calls, not the
// driver's. FAKE_CUDA_EVENTS=n: there is memory for n events. FAKE_CUDA_INNER=1: cuGetProcAddress() returns
// addresses that differ from the symbols' for some functions.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake_device.h"

using namespace fake;

namespace {

thread_local std::vector<CUcontext> pushed;

// Loads the injected library, as NVIDIA's driver does.
void inject() {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* library = path ? dlopen(path, RTLD_NOW) : nullptr;
  auto* initialise = library ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
  if (initialise && !initialise()) abort();
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  Driver& it = driver();
  if (it.pid != getpid()) {
    if (it.initialised) return CUDA_ERROR_NOT_INITIALIZED;  // a parent's context does not survive fork()
    it.pid = getpid();
  }
  if (it.initialised) return CUDA_SUCCESS;
  it.initialised = true;
  inject();
  atexit(state_schedule);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  snprintf(name, static_cast<size_t>(bytes), "Fake GPU");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  const int process = getpid();  // so that test runs do not share a device
  memset(uuid, 0xfa, sizeof *uuid);
  memcpy(uuid->bytes, &process, sizeof process);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the fake driver";
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  FAKE_CALL(cuDevicePrimaryCtxRetain, context, device) {
    *context = &driver().context;
    if (driver().context.references++) return CUDA_SUCCESS;
    std::erase(driver().destroyed, *context);
    if (!driver().opened) driver().opened = now_ns();
    const CUcontext before = current_context();
    current_context() = *context;
    tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, nullptr);
    current_context() = before;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  FAKE_CALL(cuDevicePrimaryCtxRelease_v2, device) {
    if (--driver().context.references == 0) driver().destroyed.push_back(&driver().context);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current_context() = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current_context();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  pushed.push_back(current_context());
  current_context() = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = current_context();
  current_context() = pushed.back();
  pushed.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return current_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags, CUdevice device) {
  FAKE_CALL(cuCtxCreate_v4, context, parameters, flags, device) {
    *context = new CUctx_st{1};
    if (!driver().opened) driver().opened = now_ns();
    current_context() = *context;
    tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, nullptr);
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuCtxDestroy_v2(CUcontext context) {
  FAKE_CALL(cuCtxDestroy_v2, context) {
    tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, nullptr);
    const std::lock_guard lock(driver().mutex);
    driver().destroyed.push_back(context);
    if (current_context() == context) current_context() = nullptr;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = driver().context.references > 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return driver_call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize", nullptr, [] {
    wait_until(end_of_all());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  FAKE_CALL(cuModuleLoadData, module, image) {
    *module = new CUmod_st;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuModuleUnload(CUmodule module) {
  FAKE_CALL(cuModuleUnload, module) {
    delete module;
    return CUDA_SUCCESS;
  }
  FAKE_END;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  module->functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{name}));
  *function = module->functions.back().get();
  return CUDA_SUCCESS;
}

}  // extern "C"
