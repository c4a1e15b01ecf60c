// libprof-heap.so: preloaded behind the runtime it has the program's calls of its allocator, whichever
// that is, and of mmap() (mapping_calls.cpp), passes them on, tells the runtime of them, and asks it where
// allocations are to lie. C++'s operators are left alone: they allocate by malloc, and where a program has
// others, or comes to load C++ late, nothing of ours could stand in for them.

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <bit>

#include "hpcrun/heap/preload/allocator.h"
#include "hpcrun/heap/preload/early_memory.h"
#include "hpcrun/heap/preload/place.h"

namespace hpcrun {

namespace {

constexpr size_t kPage = 4096;

void* fail(int error) noexcept {
  errno = error;
  return nullptr;
}

// Apart, so that a call of which nobody wants to know needs no registers.
template <typename Plain>
[[gnu::noinline]] void* make_and_tell(size_t bytes, size_t align, const void* frame, Plain plain) noexcept {
  return reported(plain(), bytes, align, frame);
}

// The allocation that `plain` makes, or the same elsewhere. `align`: what the program asks for, 1 where it
// does not.
template <typename Plain>
inline void* allocated(size_t bytes, size_t align, const void* frame, Plain plain) noexcept {
  if (asks_to_place(bytes, frame)) [[unlikely]]
    return allocate(bytes, align, frame, plain);
  if (!heap_hooks.allocated.load(std::memory_order_relaxed) || heap_hooks.frequent.passes_over(bytes, frame))
    return plain();
  return make_and_tell(bytes, align, frame, plain);
}

// From early memory into the allocator's.
void* move_early(void* from, size_t bytes) noexcept {
  void* const to = behind.malloc(bytes);
  if (to) memcpy(to, from, std::min(bytes, early_bytes(from)));
  return to;
}

// As the allocator before us would do it, with what it was before kept where it fails. What stays in its
// place is another allocation from now on.
template <typename Reallocate>
inline void* reallocated(void* before, size_t bytes, const void* frame, Reallocate reallocate) noexcept {
  if (is_early(before)) return told(move_early(before, bytes), bytes, 1, frame);
  if (moved_objects.may_hold(before) && moved_objects.base_of(before) != before) [[unlikely]]
    return reallocate_moved(before, bytes, frame);
  tell_released(before);
  void* const now = reallocate();
  if (now && asks_to_place(bytes, frame)) [[unlikely]]
    return replace(now, bytes, frame);
  return told(now, bytes, 1, frame);
}

// The calls that may matter to somebody. Those that do not - nearly all - come to the allocator by a jump,
// and these are apart so that they need no registers of their own on the way.

[[gnu::noinline]] void* malloc_followed(size_t bytes, const void* frame) noexcept {
  return allocated(bytes, 1, frame, [=]() noexcept { return behind.malloc(bytes); });
}

[[gnu::noinline]] void free_known(void* at) noexcept {
  if (is_early(at)) return;
  tell_released(at);
  if (moved_objects.may_hold(at)) at = moved_objects.take(at);
  behind.free(at);
}

[[gnu::noinline]] void* calloc_followed(size_t count, size_t each, const void* frame) noexcept {
  size_t bytes;
  if (!__builtin_mul_overflow(count, each, &bytes) && asks_to_place(bytes, frame)) [[unlikely]]
    return allocate_zeroed(bytes, frame);
  return told(behind.calloc(count, each), bytes, 1, frame);
}

[[gnu::noinline]] void* realloc_followed(void* at, size_t bytes, const void* frame) noexcept {
  const auto plain = [=]() noexcept { return behind.realloc(at, bytes); };
  return at ? reallocated(at, bytes, frame, plain) : allocated(bytes, 1, frame, plain);
}

}  // namespace

}  // namespace hpcrun

using hpcrun::behind;
using hpcrun::heap_hooks;
using hpcrun::told;

// What most calls execute of it lies in one cache line.
#define IN_ONE_LINE __attribute__((aligned(64)))

HPCRUN_EXPORT IN_ONE_LINE void* malloc(size_t bytes) {
  if (heap_hooks.frequent.is_unheard(bytes)) [[likely]]
    return behind.malloc(bytes);
  return hpcrun::malloc_followed(bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT IN_ONE_LINE void free(void* at) {
  if (hpcrun::is_plain(at)) [[likely]]
    return behind.free(at);
  hpcrun::free_known(at);
}

HPCRUN_EXPORT IN_ONE_LINE void* calloc(size_t count, size_t each) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, each, &bytes) && heap_hooks.frequent.is_unheard(bytes)) [[likely]]
    return behind.calloc(count, each);
  return hpcrun::calloc_followed(count, each, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT IN_ONE_LINE void* realloc(void* at, size_t bytes) {
  if (hpcrun::is_plain(at) && heap_hooks.frequent.is_unheard(bytes)) [[likely]]
    return behind.realloc(at, bytes);
  return hpcrun::realloc_followed(at, bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* reallocarray(void* at, size_t count, size_t each) {
  size_t bytes;
  if (__builtin_mul_overflow(count, each, &bytes)) return hpcrun::fail(ENOMEM);
  const auto plain = [=]() noexcept -> void* {
    if (!hpcrun::is_ready()) return hpcrun::allocate_early(bytes);
    return behind.reallocarray ? behind.reallocarray(at, count, each) : behind.realloc(at, bytes);
  };
  if (!at) return hpcrun::allocated(bytes, 1, __builtin_dwarf_cfa(), plain);
  return hpcrun::reallocated(at, bytes, __builtin_dwarf_cfa(), plain);
}

HPCRUN_EXPORT size_t malloc_usable_size(void* at) {
  if (!at) return 0;
  if (hpcrun::is_early(at)) return hpcrun::early_bytes(at);
  if (hpcrun::moved_objects.may_hold(at) && hpcrun::moved_objects.base_of(at) != at)
    return hpcrun::MovedObjects::bytes_of(at);
  return hpcrun::is_ready() && behind.malloc_usable_size ? behind.malloc_usable_size(at) : 0;
}

HPCRUN_EXPORT int posix_memalign(void** out, size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !behind.posix_memalign) return ENOMEM;
  const bool is_valid = std::has_single_bit(align) && align % sizeof(void*) == 0;
  const void* const frame = __builtin_dwarf_cfa();
  int error = 0;
  const auto plain = [&]() noexcept -> void* {
    void* at = nullptr;
    error = behind.posix_memalign(&at, align, bytes);
    return error ? nullptr : at;
  };
  void* const at = is_valid ? hpcrun::allocated(bytes, align, frame, plain) : told(plain(), bytes, 1, frame);
  if (!error) *out = at;
  return error;
}

HPCRUN_EXPORT void* aligned_alloc(size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !behind.aligned_alloc) return hpcrun::fail(ENOMEM);
  const auto plain = [=]() noexcept { return behind.aligned_alloc(align, bytes); };
  const void* const frame = __builtin_dwarf_cfa();
  return std::has_single_bit(align) ? hpcrun::allocated(bytes, align, frame, plain)
                                    : told(plain(), bytes, 1, frame);
}

HPCRUN_EXPORT void* memalign(size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !behind.memalign) return hpcrun::fail(ENOMEM);
  const auto plain = [=]() noexcept { return behind.memalign(align, bytes); };
  const void* const frame = __builtin_dwarf_cfa();
  return std::has_single_bit(align) ? hpcrun::allocated(bytes, align, frame, plain)
                                    : told(plain(), bytes, 1, frame);
}

HPCRUN_EXPORT void* valloc(size_t bytes) {
  if (!hpcrun::is_ready() || !behind.valloc) return hpcrun::fail(ENOMEM);
  return told(behind.valloc(bytes), bytes, hpcrun::kPage, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* pvalloc(size_t bytes) {
  if (!hpcrun::is_ready() || !behind.pvalloc) return hpcrun::fail(ENOMEM);
  return told(behind.pvalloc(bytes), bytes, hpcrun::kPage, __builtin_dwarf_cfa());
}
