// A library that is loaded with RTLD_DEEPBIND, and its dependencies, bypass any preloaded allocator and call
// the C library's free(), which crashes the program, as PHP's libraries do. This removes the flag.

#include <dlfcn.h>

#include "hpcrun/guest/tail_calls.h"
#include "hpcrun/interpose/next_function.h"
#include "repair/isolate/preload/start.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(dlopen);
HPCRUN_NEXT_OF(dlmopen);

namespace {

int without_own_scope(int mode) noexcept {
  return is_isolation_wanted() ? mode & ~RTLD_DEEPBIND : mode;
}

}  // namespace

// The C library uses its return address to determine the caller's namespace.
HPCRUN_EXPORT HPCRUN_TAIL_CALLS void* dlopen(const char* name, int mode) noexcept {
  return HPCRUN_NEXT(dlopen)(name, without_own_scope(mode));
}

HPCRUN_EXPORT HPCRUN_TAIL_CALLS void* dlmopen(Lmid_t space, const char* name, int mode) noexcept {
  return HPCRUN_NEXT(dlmopen)(space, name, without_own_scope(mode));
}
