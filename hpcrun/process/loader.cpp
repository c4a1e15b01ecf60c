// dlopen and dlclose: unwind tables are updated when libraries are loaded and unloaded.

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "hpcrun/device/life.h"
#include "hpcrun/guest/tail_calls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/kinds.h"
#include "hpcrun/process/threads.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/modules.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(dlopen);
HPCRUN_NEXT_OF(dlclose);

namespace {

// True if the result depends on the calling library. The C library searches a bare name along the search
// paths of the object that contains the return address, and of the objects that loaded it. The same holds for
// the dependencies of the library found. It expands $ORIGIN to the directory of that object, and stays in its
// namespace. Only a path that the executable passes is resolved the same way from here.
bool depends_on_caller(const char* name, const void* caller) noexcept {
  if (!name || strchr(name, '$') || !strchr(name, '/')) return true;
  Dl_info info;
  link_map* map = nullptr;
  if (!dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map) return true;
  const bool is_executable = !map->l_prev && map->l_name[0] == 0;
  return !is_executable;
}

// Such a library calls the C library's free() and locks directly. Also called in copies of the process that
// are not measured, and before measuring begins.
void stop_relying_on_interposition() noexcept {
  for (uint32_t i = 0; i < kKindCount; ++i) {
    if (!kKinds[i]->interposition_bypassed) continue;
    const char* const note = kKinds[i]->interposition_bypassed();
    if (note && is_sampling_here()) process_state.file.write_note(note);
  }
}

}  // namespace

// A tail call leaves the program's return address in place. The walk itself finds the loaded library until
// the tables are refreshed.
HPCRUN_EXPORT HPCRUN_TAIL_CALLS void* dlopen(const char* name, int mode) noexcept {
  auto* next = HPCRUN_NEXT(dlopen);
  stop_waiting_for_first_sample();
  if (mode & RTLD_DEEPBIND) stop_relying_on_interposition();
  if (!is_sampling_here()) return next(name, mode);
  before_library_opens(name);
  if (depends_on_caller(name, __builtin_return_address(0))) {
    refresh_tables_meanwhile();
    return next(name, mode);
  }
  void* handle = next(name, mode);
  if (handle) refresh_tables_meanwhile();
  return handle;
}

HPCRUN_EXPORT int dlclose(void* handle) noexcept {
  auto* next = HPCRUN_NEXT(dlclose);
  stop_waiting_for_first_sample();
  if (!is_sampling_here()) return next(handle);
  invalidate_walk_caches();
  const int result = next(handle);
  invalidate_walk_caches();
  refresh_tables_meanwhile();
  return result;
}
