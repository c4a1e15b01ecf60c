// dlopen and dlclose: the unwind tables follow the loader.

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "hpcrun/process/next.h"
#include "hpcrun/process/threads.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/modules.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(dlopen);
HPCRUN_NEXT_OF(dlclose);

namespace {

bool has_search_path(const link_map& map) noexcept {
  for (const ElfW(Dyn)* entry = map.l_ld; entry && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH) return true;
  return false;
}

// glibc resolves a bare name by the search path of the object that holds the return address, and expands
// $ORIGIN to its directory: such a call must keep its caller.
bool depends_on_caller(const char* name, const void* caller) noexcept {
  if (!name) return false;
  if (strchr(name, '$')) return true;
  if (strchr(name, '/')) return false;
  Dl_info info;
  link_map* map = nullptr;
  if (!dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map) return false;
  return has_search_path(*map);
}

}  // namespace

// A call in tail position leaves the program's return address in place; what it loads is met by the walk
// itself until the tables are next refreshed.
HPCRUN_EXPORT __attribute__((optimize("O2"))) void* dlopen(const char* name, int mode) noexcept {
  auto* next = HPCRUN_NEXT(dlopen);
  if (!process_state.sampling.load(std::memory_order_relaxed) ||
      depends_on_caller(name, __builtin_return_address(0)))
    return next(name, mode);
  void* handle = next(name, mode);
  if (handle) refresh_tables();
  return handle;
}

HPCRUN_EXPORT int dlclose(void* handle) noexcept {
  auto* next = HPCRUN_NEXT(dlclose);
  if (!process_state.sampling.load(std::memory_order_relaxed)) return next(handle);
  invalidate_walk_caches();
  const int result = next(handle);
  invalidate_walk_caches();
  refresh_tables();
  return result;
}
