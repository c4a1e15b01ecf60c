// Entry points for OpenCL's loader: a layer, named in OPENCL_LAYERS, whose functions interpose on every
// driver's. The loader calls both functions once, when the program first uses OpenCL. This includes a loader
// that the program opened itself.

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "hpcrun/device/opencl/commands.h"
#include "hpcrun/device/opencl/wrappers.h"
#include "hpcrun/interpose/next_function.h"

namespace hpcrun::opencl {

constinit cl_icd_dispatch next{};
constinit PublicFunctions public_functions{};

namespace {

constinit cl_icd_dispatch layer{};

// True if the function is the public one. If we are preloaded before a loader (preload.cpp), the next
// function is the one that the program calls.
bool is_exported(const void* function, const char* name) noexcept {
  Dl_info info;
  return function && dladdr(function, &info) && info.dli_saddr == function &&
         strcmp(info.dli_sname, name) == 0;
}

const void* public_function(const void* behind, void* loader, const char* name, const void* ours) noexcept {
  if (is_exported(behind, name)) return behind;
  const void* const found = loader ? dlsym(loader, name) : nullptr;
  return found ? found : ours;
}

void find_public_functions(const void* caller) noexcept {
  Dl_info info;
  void* const loader = dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
#define HPCRUN_OPENCL_FIND(name)                                                                   \
  public_functions.name = public_function(reinterpret_cast<const void*>(next.name), loader, #name, \
                                          reinterpret_cast<const void*>(wrap::name));
  HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_FIND)
#undef HPCRUN_OPENCL_FIND
  dlerror();  // the program must not see our errors
  if (loader) dlclose(loader);
}

// Functions that the driver lacks stay absent.
void stand_in_front() noexcept {
#define HPCRUN_OPENCL_STAND(name) \
  if (next.name) layer.name = wrap::name;
  HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_STAND)
#undef HPCRUN_OPENCL_STAND
}

void after_fork_in_child() noexcept {
  reset_objects_after_fork();
  reset_commands_after_fork();
}

cl_int answer(const void* value, size_t bytes, size_t room, void* out, size_t* bytes_out) noexcept {
  if (out && room < bytes) return CL_INVALID_VALUE;
  if (out) memcpy(out, value, bytes);
  if (bytes_out) *bytes_out = bytes;
  return CL_SUCCESS;
}

}  // namespace

}  // namespace hpcrun::opencl

HPCRUN_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info which, size_t room, void* out,
                                                size_t* bytes_out) {
  using hpcrun::opencl::answer;
  constexpr cl_layer_api_version kVersion = CL_LAYER_API_VERSION_100;
  constexpr char kName[] = "prof";
  if (which == CL_LAYER_API_VERSION) return answer(&kVersion, sizeof kVersion, room, out, bytes_out);
  if (which == CL_LAYER_NAME) return answer(kName, sizeof kName, room, out, bytes_out);
  return CL_INVALID_VALUE;
}

HPCRUN_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_out,
                                             const cl_icd_dispatch** layer_out) {
  using namespace hpcrun::opencl;
  if (!target || !count_out || !layer_out) return CL_INVALID_VALUE;
  constexpr cl_uint kEntries = sizeof(cl_icd_dispatch) / sizeof(void*);
  const cl_uint known = count < kEntries ? count : kEntries;
  memcpy(&next, target, known * sizeof(void*));
  memcpy(&layer, target, known * sizeof(void*));
  find_public_functions(__builtin_return_address(0));
  stand_in_front();
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  hpcrun::flush_at_sudden_end(nullptr);  // the driver's threads report what has completed
  *count_out = known;
  *layer_out = &layer;
  return CL_SUCCESS;
}
