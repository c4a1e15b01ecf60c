#include "hpcrun/sync/preload/direct_mutex.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <threads.h>

#include "hpcrun/guest/syscalls.h"

// nullptr if libprof-isolate.so is not loaded.
extern "C" const void* hpcrun_isolate_behind(const char* name) noexcept __attribute__((weak));

namespace hpcrun {

thread_local constinit uint32_t direct_calls = 0;

namespace {

using Fields = __pthread_mutex_s;

HPCRUN_NEXT_OF(pthread_mutex_lock);
HPCRUN_NEXT_OF(pthread_mutex_trylock);
HPCRUN_NEXT_OF(pthread_mutex_unlock);
HPCRUN_NEXT_OF(mtx_lock);
HPCRUN_NEXT_OF(mtx_trylock);
HPCRUN_NEXT_OF(mtx_unlock);

const void* module_of(const void* code) noexcept {
  Dl_info info;
  return code && dladdr(code, &info) ? info.dli_fbase : nullptr;
}

// Returns the function after libprof-isolate.so's, if that library comes next.
const void* behind_ours(const char* name, const void* behind) noexcept {
  const bool is_there = hpcrun_isolate_behind != nullptr;
  return is_there && module_of(reinterpret_cast<const void*>(hpcrun_isolate_behind)) == module_of(behind)
             ? hpcrun_isolate_behind(name)
             : behind;
}

// False if another library interposes on the C library's functions, to observe every lock.
bool are_of_c_library() noexcept {
  const void* const c_library = module_of(reinterpret_cast<const void*>(gnu_get_libc_version));
#define HPCRUN_IS_OF_C_LIBRARY(name) (module_of(behind_ours(#name, HPCRUN_FUNCTION(name))) == c_library)
  return HPCRUN_IS_OF_C_LIBRARY(pthread_mutex_lock) && HPCRUN_IS_OF_C_LIBRARY(pthread_mutex_trylock) &&
         HPCRUN_IS_OF_C_LIBRARY(pthread_mutex_unlock) && HPCRUN_IS_OF_C_LIBRARY(mtx_lock) &&
         HPCRUN_IS_OF_C_LIBRARY(mtx_trylock) && HPCRUN_IS_OF_C_LIBRARY(mtx_unlock);
#undef HPCRUN_IS_OF_C_LIBRARY
}

bool is(const volatile Fields& mutex, int lock, int owner, unsigned users) noexcept {
  return mutex.__lock == lock && mutex.__owner == owner && mutex.__nusers == users && mutex.__kind == 0 &&
         mutex.__count == 0;
}

}  // namespace

ptrdiff_t direct_calls_at() noexcept {
  return reinterpret_cast<const char*>(&direct_calls) - reinterpret_cast<const char*>(pthread_self());
}

bool knows_mutexes() noexcept {
  const int self = sys_gettid();
  if (number_of_thread() != self || !are_of_c_library()) return false;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  if (!is(mutex.__data, 0, 0, 0)) return false;
  HPCRUN_NEXT(pthread_mutex_lock)(&mutex);
  const bool is_taken = is(mutex.__data, 1, self, 1);  // false if locks are elided, which changes their kind
  HPCRUN_NEXT(pthread_mutex_unlock)(&mutex);
  return is_taken && is(mutex.__data, 0, 0, 0);
}

}  // namespace hpcrun
