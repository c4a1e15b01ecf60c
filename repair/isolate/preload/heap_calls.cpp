// Interposes on the program's allocator (second_allocator.h). A block that one thread releases may be reused
// by another thread, without a lock of the program in between. What was written there reaches common memory
// before it is released, and what others wrote before is visible when it is allocated.

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "repair/isolate/contract/pages.h"
#include "repair/isolate/memory/earlier_memory.h"
#include "repair/isolate/preload/committing.h"
#include "repair/isolate/preload/second_allocator.h"
#include "repair/isolate/session/converted_thread.h"

using namespace hpcrun;

namespace {

// A call of an allocator. `own` calls the program's, `fresh` the second one, or the one that owns the block.
// Commits what the call synchronises.
template <Tells tells, typename Own, typename Fresh>
[[gnu::noinline]] auto call_followed(Own own, Fresh fresh) noexcept -> decltype(own()) {
  if (heap.load(std::memory_order_relaxed) == Heap::Followed) {
    const CallOfFirst call;  // before the second check
    if (heap.load(std::memory_order_relaxed) == Heap::Followed) return own();
  }
  if (heap.load(std::memory_order_relaxed) == Heap::Common) return committed<tells>(own);
  return committed<tells>(fresh);
}

template <Tells tells, typename Own, typename Fresh>
inline auto call_heap(Own own, Fresh fresh) noexcept -> decltype(own()) {
  if (heap.load(std::memory_order_relaxed) == Heap::Own) [[likely]]
    return own();
  return call_followed<tells>(own, fresh);
}

}  // namespace

// HPCRUN_HAS_BY(own name, result, name, parameters, arguments): calls that allocate a block. The C library
// has the same functions under other names, which a program's own allocators call.
#define HPCRUN_HAS_BY(own_name, result, name, parameters, arguments)                         \
  HPCRUN_NEXT_OF(own_name);                                                                  \
  HPCRUN_EXPORT result own_name parameters noexcept {                                        \
    return call_heap<Tells::Us>([=]() -> result { return HPCRUN_NEXT(own_name) arguments; }, \
                                [=]() -> result { return second.name arguments; });          \
  }                                                                                          \
  static_assert(true)

extern "C" {
void* __libc_malloc(size_t bytes) noexcept;
void* __libc_calloc(size_t count, size_t each) noexcept;
void* __libc_realloc(void* at, size_t bytes) noexcept;
void __libc_free(void* at) noexcept;
void* __libc_memalign(size_t align, size_t bytes) noexcept;
}

HPCRUN_HAS_BY(malloc, void*, malloc, (size_t bytes), (bytes));
HPCRUN_HAS_BY(calloc, void*, calloc, (size_t count, size_t each), (count, each));
HPCRUN_HAS_BY(posix_memalign, int, posix_memalign, (void** out, size_t align, size_t bytes),
              (out, align, bytes));
HPCRUN_HAS_BY(aligned_alloc, void*, aligned_alloc, (size_t align, size_t bytes), (align, bytes));
HPCRUN_HAS_BY(memalign, void*, memalign, (size_t align, size_t bytes), (align, bytes));
HPCRUN_HAS_BY(valloc, void*, valloc, (size_t bytes), (bytes));
HPCRUN_HAS_BY(__libc_malloc, void*, malloc, (size_t bytes), (bytes));
HPCRUN_HAS_BY(__libc_calloc, void*, calloc, (size_t count, size_t each), (count, each));
HPCRUN_HAS_BY(__libc_memalign, void*, memalign, (size_t align, size_t bytes), (align, bytes));

namespace {

void* resize(void* at, size_t bytes) noexcept {
  return at && is_earlier(at) ? resize_earlier(at, bytes) : second.realloc(at, bytes);
}

void release(void* at) noexcept {
  if (!at) return;
  is_earlier(at) ? free_earlier(at) : second.free(at);
}

}  // namespace

#define HPCRUN_RESIZES(name)                                                    \
  HPCRUN_NEXT_OF(name);                                                         \
  HPCRUN_EXPORT void* name(void* at, size_t bytes) noexcept {                   \
    return call_heap<Tells::Both>([=] { return HPCRUN_NEXT(name)(at, bytes); }, \
                                  [=] { return resize(at, bytes); });           \
  }                                                                             \
  static_assert(true)
HPCRUN_RESIZES(realloc);
HPCRUN_RESIZES(__libc_realloc);

#define HPCRUN_RELEASES(name)                                                       \
  HPCRUN_NEXT_OF(name);                                                             \
  HPCRUN_EXPORT void name(void* at) noexcept {                                      \
    call_heap<Tells::Others>([=] { HPCRUN_NEXT(name)(at); }, [=] { release(at); }); \
  }                                                                                 \
  static_assert(true)
HPCRUN_RELEASES(free);
HPCRUN_RELEASES(__libc_free);

HPCRUN_NEXT_OF(malloc_usable_size);
HPCRUN_EXPORT size_t malloc_usable_size(void* at) noexcept {
  if (heap.load(std::memory_order_relaxed) != Heap::Second) return HPCRUN_NEXT(malloc_usable_size)(at);
  if (!at) return 0;
  return is_earlier(at) ? bytes_of_earlier(at) : second.malloc_usable_size(at);
}

// For allocators without these two, the call would reach the C library's, whose blocks they cannot release.

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

// The C library scans what it keeps in blocks here: only at home.

#define HPCRUN_LOOKS(result, name, parameters, arguments) \
  HPCRUN_NEXT_OF(name);                                   \
  HPCRUN_EXPORT result name parameters noexcept {         \
    const StaysHome home;                                 \
    return HPCRUN_NEXT(name) arguments;                   \
  }                                                       \
  static_assert(true)

HPCRUN_LOOKS(int, malloc_trim, (size_t rest), (rest));
HPCRUN_LOOKS(int, malloc_info, (int options, FILE* file), (options, file));
HPCRUN_LOOKS(void, malloc_stats, (), ());
HPCRUN_LOOKS(struct mallinfo2, mallinfo2, (), ());
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
HPCRUN_LOOKS(struct mallinfo, mallinfo, (), ());
