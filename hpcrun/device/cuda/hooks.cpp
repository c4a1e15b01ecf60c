#include "hpcrun/device/cuda/hooks.h"

#include <dlfcn.h>
#include <string.h>

#include <atomic>

#include "hpcrun/device/cuda/callbacks.h"
#include "hpcrun/device/cuda/calls.h"
#include "hpcrun/device/cuda/driver_calls.h"
#include "hpcrun/device/cuda/driver_slots.h"
#include "hpcrun/device/cuda/event_times.h"
#include "hpcrun/device/cuda/kernel_names.h"

// Called and jumped to by the code below.
extern "C" {
__attribute__((visibility("hidden"))) void hpcrun_cuda_dlsym() noexcept;
__attribute__((visibility("hidden"), used)) void* hpcrun_cuda_before_dlsym(void* handle,
                                                                           const char* name) noexcept;
}

namespace hpcrun::cuda {

namespace {

constexpr size_t kMaxIds = 1024;
constinit std::atomic<void*> originals[kMaxIds] = {};  // by callback id
constinit std::atomic<bool> follows{false};
constinit std::atomic<uint32_t> last_id{0};

template <typename Function>
Function original(CUpti_driver_api_trace_cbid id) noexcept {
  return reinterpret_cast<Function>(originals[id].load(std::memory_order_relaxed));
}

// Handles what a call means for contexts, in addition to on_callback().
class ContextChange {
 public:
  ContextChange(CUpti_CallbackId id, const void* arguments) noexcept : id_(id) {
    switch (id) {
      case CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2:
        context_ = static_cast<const cuCtxDestroy_v2_params*>(arguments)->ctx;
        suspend_context(context_);
        return;
      case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2:
        device_ = static_cast<const cuDevicePrimaryCtxRelease_v2_params*>(arguments)->dev;
        break;
      case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2:
        device_ = static_cast<const cuDevicePrimaryCtxReset_v2_params*>(arguments)->dev;
        break;
      default:
        return;
    }
    context_ = primary_context_of(device_);
    suspend_context(context_);
  }

  void end(bool succeeded) const noexcept {
    if (!context_) return;
    const bool is_destroyed = succeeded && is_gone();
    end_suspension(context_, is_destroyed);
    if (is_destroyed) remove_context(context_);
  }

 private:
  bool is_gone() const noexcept {
    if (id_ != CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2) return true;
    unsigned flags = 0;
    int is_active = 0;  // other users retain it
    return driver.primary_state(device_, &flags, &is_active) != CUDA_SUCCESS || !is_active;
  }

  CUpti_CallbackId id_;
  CUcontext context_ = nullptr;
  CUdevice device_ = 0;
};

CUcontext current_context() noexcept {
  CUcontext context = nullptr;
  return driver.context_current(&context) == CUDA_SUCCESS ? context : nullptr;
}

// A device's idleness counts from its first context.
void note_new_context(CUpti_CallbackId id, const void* arguments) noexcept {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain: {
      const auto& made = *static_cast<const cuDevicePrimaryCtxRetain_params*>(arguments);
      return note_primary_context(*made.pctx, made.dev);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v3:
    case CUPTI_DRIVER_TRACE_CBID_cuCtxCreate_v4:
      device_of(current_context());
      return;
    default:
      return;
  }
}

void* substitute_driver(const char* name) noexcept;

// Reports a call as CUPTI does.
class ReportedCall {
 public:
  ReportedCall(CUpti_CallbackId id, const void* arguments, const char* kernel) noexcept
      : id_(id), change_(id, arguments) {
    data_.functionParams = arguments;
    data_.functionReturnValue = &result_;
    data_.symbolName = kernel;
    data_.correlationData = &shared_;
    data_.correlationId = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
    tell(CUPTI_API_ENTER);
  }

  CUresult returned(CUresult result) noexcept {
    result_ = result;
    if (result == CUDA_SUCCESS) note_new_context(id_, data_.functionParams);
    change_.end(result == CUDA_SUCCESS);
    tell(CUPTI_API_EXIT);
    // Hooks libraries loaded meanwhile; only in calls that take longer than this scan.
    if (const FollowedCall* call = find_call(CUPTI_CB_DOMAIN_DRIVER_API, id_);
        call && call->kind != CallKind::Short)
      substitute_imports(substitute_driver);
    return result;
  }

 private:
  void tell(CUpti_ApiCallbackSite site) noexcept {
    data_.callbackSite = site;
    data_.context = current_context();
    on_callback(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id_, &data_);
  }

  CUpti_CallbackId id_;
  ContextChange change_;
  CUpti_CallbackData data_{};
  CUresult result_ = CUDA_SUCCESS;
  uint64_t shared_ = 0;
};

template <typename Arguments>
const char* kernel_of(const Arguments& arguments) noexcept {
  if constexpr (requires { arguments.f, arguments.kernelParams; }) return name_of_kernel(arguments.f);
  return nullptr;
}

// Replaces the driver's function for the program.
template <CUpti_driver_api_trace_cbid id, typename Arguments, typename Function>
struct Hook;
template <CUpti_driver_api_trace_cbid id, typename Arguments, typename... Values>
struct Hook<id, Arguments, CUresult (*)(Values...)> {
  static CUresult entry(Values... values) noexcept {
    const auto function = original<CUresult (*)(Values...)>(id);
    if (!follows.load(std::memory_order_relaxed)) return function(values...);
    const Arguments arguments{values...};
    ReportedCall call(id, &arguments, kernel_of(arguments));
    return call.returned(function(values...));
  }
};

struct NoArguments {};

CUresult destroy_stream(CUstream stream) noexcept {
  const auto function = original<PFN_cuStreamDestroy_v4000>(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2);
  if (follows.load(std::memory_order_relaxed)) remove_stream(stream);
  return function(stream);
}

// Records also functions that are looked up before calls are followed.
CUresult get_function(CUfunction* function, CUmodule module, const char* name) noexcept {
  const CUresult result = original<PFN_cuModuleGetFunction_v2000>(
      CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunction)(function, module, name);
  if (result == CUDA_SUCCESS && follows.load(std::memory_order_relaxed)) note_kernel(*function, name);
  return result;
}

CUresult get_kernel(CUkernel* kernel, CUlibrary library, const char* name) noexcept {
  const CUresult result = original<PFN_cuLibraryGetKernel_v12000>(CUPTI_DRIVER_TRACE_CBID_cuLibraryGetKernel)(
      kernel, library, name);
  if (result == CUDA_SUCCESS && follows.load(std::memory_order_relaxed)) note_kernel(*kernel, name);
  return result;
}

CUresult get_kernel_function(CUfunction* function, CUkernel kernel) noexcept {
  const CUresult result =
      original<PFN_cuKernelGetFunction_v12000>(CUPTI_DRIVER_TRACE_CBID_cuKernelGetFunction)(function, kernel);
  if (result == CUDA_SUCCESS && follows.load(std::memory_order_relaxed))
    note_kernel(*function, name_of_kernel(reinterpret_cast<CUfunction>(kernel)));
  return result;
}

// Returns the function that replaces `found`, which the driver returned for this name and version.
void* hooked(void* found, const char* name, int version, bool per_thread) noexcept;

bool is_per_thread(cuuint64_t flags) noexcept {
  return flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
}

CUresult get_address(const char* name, void** found, int version, cuuint64_t flags) noexcept {
  const CUresult result = original<PFN_cuGetProcAddress_v11030>(CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress)(
      name, found, version, flags);
  if (result == CUDA_SUCCESS && found) *found = hooked(*found, name, version, is_per_thread(flags));
  return result;
}

CUresult get_address_v2(const char* name, void** found, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult* status) noexcept {
  const CUresult result = original<PFN_cuGetProcAddress_v12000>(CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2)(
      name, found, version, flags, status);
  if (result == CUDA_SUCCESS && found) *found = hooked(*found, name, version, is_per_thread(flags));
  return result;
}

struct Entry {
  const char* symbol;  // exported by the driver
  const char* name;    // used by cuGetProcAddress(),
  int version;         // from this version on
  bool per_thread;
  CUpti_driver_api_trace_cbid id;
  void* ours;
};

template <typename Function>
void* address_of(Function function) noexcept {
  return reinterpret_cast<void*>(function);
}

// The names of functions are macros of cuda.h, so a macro that takes one must paste it at once.
#define HPCRUN_HOOK(symbol, name, version, per_thread, id, arguments, type) \
  { symbol, name, version, per_thread, id, reinterpret_cast<void*>(Hook<id, arguments, type>::entry) }
#define HPCRUN_PLAIN_HOOK(function, name, version, ...)                                                \
  HPCRUN_HOOK(#function, #name, version, false, CUPTI_DRIVER_TRACE_CBID_##function, function##_params, \
              PFN_##name##_v##version)
#define HPCRUN_STREAM_HOOK(function, name, version, ...)                                               \
  HPCRUN_HOOK(#function, #name, version, false, CUPTI_DRIVER_TRACE_CBID_##function, function##_params, \
              PFN_##name##_v##version),                                                                \
      HPCRUN_HOOK(#function "_ptsz", #name, version, true, CUPTI_DRIVER_TRACE_CBID_##function##_ptsz,  \
                  function##_ptsz_params, PFN_##name##_v##version)
#define HPCRUN_DEFAULT_STREAM_HOOK(function, name, version, ...)                                       \
  HPCRUN_HOOK(#function, #name, version, false, CUPTI_DRIVER_TRACE_CBID_##function, function##_params, \
              PFN_##name##_v##version),                                                                \
      HPCRUN_HOOK(#function "_ptds", #name, version, true, CUPTI_DRIVER_TRACE_CBID_##function##_ptds,  \
                  function##_ptds_params, PFN_##name##_v##version)
#define HPCRUN_OTHER_HOOK(function, name, version, ours)                  \
  Entry {                                                                 \
#function, #name, version, false, CUPTI_DRIVER_TRACE_CBID_##function, \
        address_of < PFN_##name##_v##version>(ours)                       \
  }

const Entry kEntries[] = {
    HPCRUN_STREAM_CALLS(HPCRUN_STREAM_HOOK),
    HPCRUN_DEFAULT_STREAM_CALLS(HPCRUN_DEFAULT_STREAM_HOOK),
    HPCRUN_PLAIN_CALLS(HPCRUN_PLAIN_HOOK),
    HPCRUN_CALLS_THAT_MAY_WAIT(HPCRUN_PLAIN_HOOK),
    HPCRUN_HOOK("cuGraphInstantiateWithParams_ptsz", "cuGraphInstantiateWithParams", 12000, true,
                CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz,
                cuGraphInstantiateWithParams_ptsz_params, PFN_cuGraphInstantiateWithParams_v12000),
    HPCRUN_HOOK("cuCtxSynchronize", "cuCtxSynchronize", 2000, false, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
                NoArguments, PFN_cuCtxSynchronize_v2000),
    HPCRUN_OTHER_HOOK(cuStreamDestroy_v2, cuStreamDestroy, 4000, destroy_stream),
    HPCRUN_OTHER_HOOK(cuModuleGetFunction, cuModuleGetFunction, 2000, get_function),
    HPCRUN_OTHER_HOOK(cuLibraryGetKernel, cuLibraryGetKernel, 12000, get_kernel),
    HPCRUN_OTHER_HOOK(cuKernelGetFunction, cuKernelGetFunction, 12000, get_kernel_function),
    HPCRUN_OTHER_HOOK(cuGetProcAddress, cuGetProcAddress, 11030, get_address),
    HPCRUN_OTHER_HOOK(cuGetProcAddress_v2, cuGetProcAddress, 12000, get_address_v2),
};
constexpr size_t kEntryCount = sizeof kEntries / sizeof kEntries[0];

// Addresses of the driver's symbols; nullptr before they are looked up, and for symbols that another library
// interposes on.
constinit void* exported[kEntryCount] = {};

const Entry* entry_of_symbol(const char* symbol) noexcept {
  if (symbol[0] != 'c' || symbol[1] != 'u') return nullptr;
  for (const Entry& entry : kEntries)
    if (strcmp(entry.symbol, symbol) == 0) return &entry;
  return nullptr;
}

// Returns the newest entry that is not newer than `version`. Versions newer than this build's are not known.
const Entry* entry_of_name(const char* name, int version, bool per_thread) noexcept {
  const Entry* newest = nullptr;
  if (version > CUDA_VERSION) return nullptr;
  for (const Entry& entry : kEntries)
    if (entry.version <= version && entry.per_thread == per_thread && strcmp(entry.name, name) == 0 &&
        (!newest || entry.version > newest->version))
      newest = &entry;
  // Most functions have one variant for both.
  return newest || !per_thread ? newest : entry_of_name(name, version, false);
}

const Entry* entry_of_address(const void* address) noexcept {
  for (size_t i = 0; i < kEntryCount; ++i)
    if (exported[i] == address) return &kEntries[i];
  return nullptr;
}

void look_up_exports(void* driver_library) noexcept {
  for (size_t i = 0; i < kEntryCount; ++i) {
    void* const address = dlsym(driver_library, kEntries[i].symbol);
    void* const seen = address ? dlsym(RTLD_DEFAULT, kEntries[i].symbol) : nullptr;
    exported[i] = !seen || seen == address ? address : nullptr;
  }
  dlerror();  // the program must not see our errors
}

void* stand_in(const Entry& entry, void* found) noexcept {
  originals[entry.id].store(found, std::memory_order_relaxed);
  return entry.ours;
}

void* hooked(void* found, const char* name, int version, bool per_thread) noexcept {
  if (!found || !name || !is_of_driver(found)) return found;
  const Entry* entry = entry_of_address(found);
  if (!entry) entry = entry_of_name(name, version, per_thread);
  return entry ? stand_in(*entry, found) : found;
}

void* substitute_driver(const char* name) noexcept {
  const Entry* const entry = entry_of_symbol(name);
  if (!entry) return nullptr;
  void* const address = exported[entry - kEntries];
  return address ? stand_in(*entry, address) : nullptr;
}

void* substitute_lookup(const char* name) noexcept {
  return strcmp(name, "dlsym") == 0 ? reinterpret_cast<void*>(hpcrun_cuda_dlsym) : nullptr;
}

// Does the same as dlsym() where the result does not depend on the caller.
void* find_symbol(void* handle, const char* name) noexcept {
  void* const found = dlsym(handle, name);
  const Entry* const entry = found && is_of_driver(found) ? entry_of_symbol(name) : nullptr;
  return entry ? stand_in(*entry, found) : found;
}

}  // namespace

void stand_by() noexcept {
  substitute_imports(substitute_lookup);
}

void follow_hooks(void* driver_library) noexcept {
  look_up_exports(driver_library);
  substitute_imports(substitute_driver);
  follows.store(true, std::memory_order_release);
}

void reset_hooks_after_fork() noexcept {
  follows.store(false, std::memory_order_relaxed);
}

}  // namespace hpcrun::cuda

// If the result of the C library's dlsym() depends on its caller, it is entered with that caller's return
// address.
void* hpcrun_cuda_before_dlsym(void* handle, const char* name) noexcept {
  using namespace hpcrun::cuda;
  const bool is_plain = handle != RTLD_NEXT && handle != RTLD_DEFAULT && name && entry_of_symbol(name);
  return is_plain ? reinterpret_cast<void*>(find_symbol) : reinterpret_cast<void*>(dlsym);
}

asm(R"(
.text
  .hidden hpcrun_cuda_dlsym
  .globl hpcrun_cuda_dlsym
  .type hpcrun_cuda_dlsym, @function
hpcrun_cuda_dlsym:
  .cfi_startproc
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call hpcrun_cuda_before_dlsym
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size hpcrun_cuda_dlsym, . - hpcrun_cuda_dlsym
)");
