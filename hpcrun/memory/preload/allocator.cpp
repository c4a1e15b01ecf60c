#include "hpcrun/memory/preload/allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>

constinit hpcrun::HeapHooks hpcrun_heap_hooks{};

namespace hpcrun {

constinit Allocator behind{};
constinit std::atomic<Lookup> lookup{Lookup::NotYet};

namespace {

template <typename Function>
void find(Function& function, const char* name) noexcept {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (!function) dlerror();  // the program must not find our failure
}

bool is_in_c_library(const void* function) noexcept {
  Dl_info of_function, of_library;
  return dladdr(function, &of_function) &&
         dladdr(reinterpret_cast<const void*>(gnu_get_libc_version), &of_library) &&
         of_function.dli_fbase == of_library.dli_fbase;
}

}  // namespace

[[gnu::noinline]] bool look_up() noexcept {
  if (lookup.load(std::memory_order_acquire) == Lookup::UnderWay) return false;
  lookup.store(Lookup::UnderWay, std::memory_order_relaxed);
  const int error = errno;
#define HPCRUN_FIND(name) find(behind.name, #name);
  HPCRUN_ALLOCATOR_CALLS(HPCRUN_FIND)
#undef HPCRUN_FIND
  behind.is_c_library = is_in_c_library(reinterpret_cast<const void*>(behind.free));
  errno = error;
  lookup.store(Lookup::Done, std::memory_order_release);
  return true;
}

namespace {

// Before the program has threads, if nobody allocated yet.
__attribute__((constructor(101))) void start() noexcept {
  is_ready();
}

}  // namespace

}  // namespace hpcrun
