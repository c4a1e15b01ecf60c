// libhpcrun-opencl.so: for loaders of OpenCL that know no layers. Preloaded behind the runtime it has the
// program's calls, passes them to the layer's functions, and is to them what a loader would be. A program
// that opens the loader itself is not seen in this way.

#include <dlfcn.h>

#include <atomic>
#include <type_traits>

#include "hpcrun/device/opencl/api.h"

namespace {

// What the layer's functions call, beside those that they stand in front of.
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
  if (!function) dlerror();  // the program must not find our failure
  return function;
}

// Without the layer, the loader's own functions.
const cl_icd_dispatch* look_up() noexcept {
#define HPCRUN_OPENCL_FIND(name) behind.name = reinterpret_cast<decltype(behind.name)>(find(#name));
  HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_FIND)
  HPCRUN_OPENCL_QUERIES(HPCRUN_OPENCL_FIND)
#undef HPCRUN_OPENCL_FIND
  const auto initialise = reinterpret_cast<pfn_clInitLayer>(dlsym(RTLD_DEFAULT, "clInitLayer"));
  const cl_icd_dispatch* layer = nullptr;
  constexpr cl_uint kEntries = sizeof behind / sizeof(void*);
  cl_uint count = kEntries;
  // A process without OpenCL has no use for it.
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

// Before the program has threads.
__attribute__((constructor)) void start() noexcept {
  functions();
}

// What the program is told where OpenCL lacks the function.
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

// Each is exported under OpenCL's name, with the type that the header gives it.
using Function = void (*)();
#define HPCRUN_OPENCL_EXPORT(name)                                           \
  extern "C" Function pick_##name() noexcept {                               \
    return reinterpret_cast<Function>(Passed<&cl_icd_dispatch::name>::call); \
  }                                                                          \
  extern "C" __attribute__((visibility("default"), ifunc("pick_" #name))) void export_##name() asm(#name);
HPCRUN_OPENCL_FUNCTIONS(HPCRUN_OPENCL_EXPORT)
