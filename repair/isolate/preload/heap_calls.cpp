// In front of the program's allocator: a block that one thread releases is another's next, without a lock of
// the program's between. What was written there reaches common memory before it is released, and what others
// wrote before is seen when it is had.

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "repair/isolate/pages.h"
#include "repair/isolate/preload/committing.h"

using namespace hpcrun;

HPCRUN_TELLS(Us, void*, malloc, (size_t bytes), (bytes), noexcept);
HPCRUN_TELLS(Us, void*, calloc, (size_t count, size_t each), (count, each), noexcept);
HPCRUN_TELLS(Both, void*, realloc, (void* at, size_t bytes), (at, bytes), noexcept);

// Most often called of all, and by most threads with nothing to tell: these come to the allocator by a jump.
HPCRUN_STAND_BEFORE(free);
[[gnu::noinline]] static void free_by_twin(void* at) noexcept {
  committed<Tells::Others>([=] { HPCRUN_BEHIND(free)(at); });
}
HPCRUN_EXPORT void free(void* at) noexcept {
  if (!own_pages) [[likely]]
    return HPCRUN_BEHIND(free)(at);
  free_by_twin(at);
}

HPCRUN_TELLS(Us, int, posix_memalign, (void** out, size_t align, size_t bytes), (out, align, bytes),
             noexcept);
HPCRUN_TELLS(Us, void*, aligned_alloc, (size_t align, size_t bytes), (align, bytes), noexcept);
HPCRUN_TELLS(Us, void*, memalign, (size_t align, size_t bytes), (align, bytes), noexcept);
HPCRUN_TELLS(Us, void*, valloc, (size_t bytes), (bytes), noexcept);

// Of allocators that lack these two the C library's own would be met, whose blocks others cannot release.

HPCRUN_EXPORT void* reallocarray(void* at, size_t count, size_t each) noexcept {
  size_t bytes;
  if (!__builtin_mul_overflow(count, each, &bytes)) return realloc(at, bytes);
  errno = ENOMEM;
  return nullptr;
}

HPCRUN_EXPORT void* pvalloc(size_t bytes) noexcept {
  if (bytes <= SIZE_MAX - kPageBytes) return memalign(kPageBytes, bytes ? page_up(bytes) : kPageBytes);
  errno = ENOMEM;
  return nullptr;
}
