// libprof-opencl.so, for loaders of OpenCL without support for layers. It is preloaded after the runtime,
// receives the program's calls, passes them to the layer's functions, and acts as the loader for these. A
// program that opens the loader itself is not observed this way.

#include <dlfcn.h>

#include <atomic>
#include <type_traits>

#include "hpcrun/device/opencl/api.h"

namespace {

// Functions that the layer calls, in addition to those that it interposes on.
#define HPCRUN_OPENCL_QUERIES(X) \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clGetContextInfo)            \
  X(clGetMemObjectInfo)          \
  X(clGetImageInfo)              \
  X(clGetProgramInfo)            \
  X(clGetKernelInfo)             \
  X(clGetEventInfo)              \
  X(clRetainEvent)               \
  X(clReleaseEvent)              \
  X(clSetEventCallback)

constinit cl_icd_dispatch behind{};
constinit std::atomic<const cl_icd_dispatch*> in_front{nullptr};

void* find(const char* name) noexcept {
  void* function = dlsym(RTLD_NEXT, name);
  if (!function) dlerror();  // the program must not see our error
  return function;
}

// Returns the layer's functions, or the loader's own without a layer.
const cl_icd_dispatch* look_up() noexcept {
#define HPCRUN_OPENCL_FIND(name) behind.name = reinterpret_cast<decltype(behind.name)>(find(#name));
  HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_FIND)
  HPCRUN_OPENCL_QUERIES(HPCRUN_OPENCL_FIND)
#undef HPCRUN_OPENCL_FIND
  const auto initialise = reinterpret_cast<pfn_clInitLayer>(dlsym(RTLD_DEFAULT, "clInitLayer"));
  const cl_icd_dispatch* layer = nullptr;
  constexpr cl_uint kEntries = sizeof behind / sizeof(void*);
  cl_uint count = kEntries;
  // A process without OpenCL does not need the layer.
  if (!behind.clGetDeviceIDs || !initialise || initialise(count, &behind, &count, &layer) != CL_SUCCESS)
    return &behind;
  return layer;
}

const cl_icd_dispatch& functions() noexcept {
  const cl_icd_dispatch* known = in_front.load(std::memory_order_acquire);
  if (!known) {
    known = look_up();
    in_front.store(known, std::memory_order_release);
  }
  return *known;
}

// Runs before the program has threads.
__attribute__((constructor)) void start() noexcept {
  functions();
}

// Returns the error for a function that OpenCL lacks.
template <typename Result>
Result absent() noexcept {
  if constexpr (std::is_same_v<Result, cl_int>)
    return CL_INVALID_OPERATION;
  else
    return Result();
}

template <auto Member>
struct Passed;

template <typename Result, typename... Arguments,
          Result (CL_API_CALL* cl_icd_dispatch::*Member)(Arguments...)>
struct Passed<Member> {
  static Result CL_API_CALL call(Arguments... arguments) {
    const auto function = functions().*Member;
    return function ? function(arguments...) : absent<Result>();
  }
};

}  // namespace

// Each is exported under OpenCL's name, with the type in the header.
using Function = void (*)();
#define HPCRUN_OPENCL_EXPORT(name)                                           \
  extern "C" Function pick_##name() noexcept {                               \
    return reinterpret_cast<Function>(Passed<&cl_icd_dispatch::name>::call); \
  }                                                                          \
  extern "C" __attribute__((visibility("default"), ifunc("pick_" #name))) void export_##name() asm(#name);
HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_EXPORT)
