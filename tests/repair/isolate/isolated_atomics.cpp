#include "tests/repair/isolate/isolated_atomics.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repair/isolate/atomics/atomic_sites.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/session/converted_thread.h"

#define EXPORT __attribute__((visibility("default")))

using namespace hpcrun;

namespace {

constinit bool patches_code = false;
constinit uint64_t pages[8];
constinit unsigned page_count = 0;
constinit thread_local PrivatePages pages_of_thread;

void fail(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(125);
}

// Leaves out the C library, the loader, the vDSO, and this library.
int plan(dl_phdr_info* module, size_t, void*) {
  for (const char* other : {"libc.so", "ld-linux", "linux-vdso", "libisolated"})
    if (strstr(module->dlpi_name, other)) return 0;
  if (const char* const why = plan_atomic_sites(*module)) fail(module->dlpi_name, why);
  return 0;
}

}  // namespace

extern "C" {

EXPORT void isolated_plan_atomics(bool patches) {
  if (!reserve_private_pages(common_memory_file())) fail("private pages", "no room");
  patches_code = patches;
  if (patches) dl_iterate_phdr(plan, nullptr);
}

EXPORT void isolated_keep_patched_code() {
  keep_patched_code(common_memory_file(), common_state.hold.inode);
}

EXPORT void isolated_add_page(void* page) {
  pages[page_count++] = reinterpret_cast<uint64_t>(page);
}

EXPORT unsigned isolated_pages() {
  return own_pages ? own_pages->count() : 0;
}
}

namespace hpcrun::test {

void take_own_pages() noexcept {
  if (!page_count || (patches_code && !patch_atomic_sites()) || is_at_atomic_site()) return;
  for (unsigned i = 0; i < page_count; ++i) pages_of_thread.isolate(pages[i]);
  own_pages = &pages_of_thread;
}

void leave_own_pages() noexcept {
  if (!own_pages) return;
  own_pages->leave();
  own_pages = nullptr;
}

bool is_busy_with_own_pages() noexcept {
  return own_pages && own_pages->is_busy_until(leave_where_asked);
}

}  // namespace hpcrun::test
