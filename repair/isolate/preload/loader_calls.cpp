// A library that is loaded with RTLD_DEEPBIND, and its dependencies, bypass any preloaded allocator and call
// the C library's free(), which crashes the program, as PHP's libraries do. This removes the flag.

#include <dlfcn.h>

#include "hpcrun/guest/behind.h"
#include "hpcrun/guest/tail_calls.h"
#include "repair/isolate/preload/start.h"

using namespace hpcrun;

HPCRUN_STAND_BEFORE(dlopen);
HPCRUN_STAND_BEFORE(dlmopen);

namespace {

int without_own_scope(int mode) noexcept {
  return is_isolation_wanted() ? mode & ~RTLD_DEEPBIND : mode;
}

}  // namespace

// The C library uses its return address to determine the caller's namespace.
HPCRUN_EXPORT HPCRUN_TAIL_CALLS void* dlopen(const char* name, int mode) noexcept {
  return HPCRUN_BEHIND(dlopen)(name, without_own_scope(mode));
}

HPCRUN_EXPORT HPCRUN_TAIL_CALLS void* dlmopen(Lmid_t space, const char* name, int mode) noexcept {
  return HPCRUN_BEHIND(dlmopen)(space, name, without_own_scope(mode));
}
