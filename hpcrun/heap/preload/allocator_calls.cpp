// libprof-heap.so: preloaded after the runtime, it intercepts the program's calls of its allocator, whichever
// that is, and of mmap() (mapping_calls.cpp). It passes them on, reports them to the runtime, and asks the
// runtime for the placement of allocations. C++'s operators are not intercepted: they allocate by malloc().
// If a program has its own, or loads C++ late, a replacement could not call them.

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

// A function of its own, so that calls that are not reported need no registers for it.
template <typename Plain>
[[gnu::noinline]] void* make_and_report(size_t bytes, size_t align, const void* frame, Plain plain) noexcept {
  return reported(plain(), bytes, align, frame);
}

// Returns the allocation that `plain` makes, or a placed one. `align`: the alignment that the program
// requested, or 1.
template <typename Plain>
inline void* allocated(size_t bytes, size_t align, const void* frame, Plain plain) noexcept {
  if (may_be_placed(bytes, frame)) [[unlikely]]
    return allocate(bytes, align, frame, plain);
  if (!heap_hooks.allocated.load(std::memory_order_relaxed) || heap_hooks.frequent.passes_over(bytes, frame))
    return plain();
  return make_and_report(bytes, align, frame, plain);
}

// Copies an allocation from early memory into the allocator's.
void* move_early(void* from, size_t bytes) noexcept {
  void* const to = next.malloc(bytes);
  if (to) memcpy(to, from, std::min(bytes, early_bytes(from)));
  return to;
}

// Reallocates as the allocator would, and keeps the object if that fails. An object that stays in place is
// reported as another allocation.
template <typename Reallocate>
inline void* reallocated(void* before, size_t bytes, const void* frame, Reallocate reallocate) noexcept {
  if (is_early(before)) return reported_if_needed(move_early(before, bytes), bytes, 1, frame);
  if (moved_objects.may_hold(before) && moved_objects.base_of(before) != before) [[unlikely]]
    return reallocate_moved(before, bytes, frame);
  report_released(before);
  void* const now = reallocate();
  if (now && may_be_placed(bytes, frame)) [[unlikely]]
    return replace(now, bytes, frame);
  return reported_if_needed(now, bytes, 1, frame);
}

// Calls that may have to be reported or placed. The others, which are nearly all, reach the allocator by a
// jump. These are functions of their own, so that the others need no registers for them.

[[gnu::noinline]] void* malloc_followed(size_t bytes, const void* frame) noexcept {
  return allocated(bytes, 1, frame, [=]() noexcept { return next.malloc(bytes); });
}

[[gnu::noinline]] void free_known(void* at) noexcept {
  if (is_early(at)) return;
  report_released(at);
  if (moved_objects.may_hold(at)) at = moved_objects.take(at);
  next.free(at);
}

[[gnu::noinline]] void* calloc_followed(size_t count, size_t each, const void* frame) noexcept {
  size_t bytes;
  if (!__builtin_mul_overflow(count, each, &bytes) && may_be_placed(bytes, frame)) [[unlikely]]
    return allocate_zeroed(bytes, frame);
  return reported_if_needed(next.calloc(count, each), bytes, 1, frame);
}

[[gnu::noinline]] void* realloc_followed(void* at, size_t bytes, const void* frame) noexcept {
  const auto plain = [=]() noexcept { return next.realloc(at, bytes); };
  return at ? reallocated(at, bytes, frame, plain) : allocated(bytes, 1, frame, plain);
}

}  // namespace

}  // namespace hpcrun

using hpcrun::heap_hooks;
using hpcrun::next;
using hpcrun::reported_if_needed;

// Keeps the instructions that most calls execute in one cache line.
#define IN_ONE_LINE __attribute__((aligned(64)))

HPCRUN_EXPORT IN_ONE_LINE void* malloc(size_t bytes) {
  if (heap_hooks.frequent.is_unheard(bytes)) [[likely]]
    return next.malloc(bytes);
  return hpcrun::malloc_followed(bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT IN_ONE_LINE void free(void* at) {
  if (hpcrun::is_plain(at)) [[likely]]
    return next.free(at);
  hpcrun::free_known(at);
}

HPCRUN_EXPORT IN_ONE_LINE void* calloc(size_t count, size_t each) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, each, &bytes) && heap_hooks.frequent.is_unheard(bytes)) [[likely]]
    return next.calloc(count, each);
  return hpcrun::calloc_followed(count, each, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT IN_ONE_LINE void* realloc(void* at, size_t bytes) {
  if (hpcrun::is_plain(at) && heap_hooks.frequent.is_unheard(bytes)) [[likely]]
    return next.realloc(at, bytes);
  return hpcrun::realloc_followed(at, bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* reallocarray(void* at, size_t count, size_t each) {
  size_t bytes;
  if (__builtin_mul_overflow(count, each, &bytes)) return hpcrun::fail(ENOMEM);
  const auto plain = [=]() noexcept -> void* {
    if (!hpcrun::is_ready()) return hpcrun::allocate_early(bytes);
    return next.reallocarray ? next.reallocarray(at, count, each) : next.realloc(at, bytes);
  };
  if (!at) return hpcrun::allocated(bytes, 1, __builtin_dwarf_cfa(), plain);
  return hpcrun::reallocated(at, bytes, __builtin_dwarf_cfa(), plain);
}

HPCRUN_EXPORT size_t malloc_usable_size(void* at) {
  if (!at) return 0;
  if (hpcrun::is_early(at)) return hpcrun::early_bytes(at);
  if (hpcrun::moved_objects.may_hold(at) && hpcrun::moved_objects.base_of(at) != at)
    return hpcrun::MovedObjects::bytes_of(at);
  return hpcrun::is_ready() && next.malloc_usable_size ? next.malloc_usable_size(at) : 0;
}

HPCRUN_EXPORT int posix_memalign(void** out, size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !next.posix_memalign) return ENOMEM;
  const bool is_valid = std::has_single_bit(align) && align % sizeof(void*) == 0;
  const void* const frame = __builtin_dwarf_cfa();
  int error = 0;
  const auto plain = [&]() noexcept -> void* {
    void* at = nullptr;
    error = next.posix_memalign(&at, align, bytes);
    return error ? nullptr : at;
  };
  void* const at =
      is_valid ? hpcrun::allocated(bytes, align, frame, plain) : reported_if_needed(plain(), bytes, 1, frame);
  if (!error) *out = at;
  return error;
}

HPCRUN_EXPORT void* aligned_alloc(size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !next.aligned_alloc) return hpcrun::fail(ENOMEM);
  const auto plain = [=]() noexcept { return next.aligned_alloc(align, bytes); };
  const void* const frame = __builtin_dwarf_cfa();
  return std::has_single_bit(align) ? hpcrun::allocated(bytes, align, frame, plain)
                                    : reported_if_needed(plain(), bytes, 1, frame);
}

HPCRUN_EXPORT void* memalign(size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !next.memalign) return hpcrun::fail(ENOMEM);
  const auto plain = [=]() noexcept { return next.memalign(align, bytes); };
  const void* const frame = __builtin_dwarf_cfa();
  return std::has_single_bit(align) ? hpcrun::allocated(bytes, align, frame, plain)
                                    : reported_if_needed(plain(), bytes, 1, frame);
}

HPCRUN_EXPORT void* valloc(size_t bytes) {
  if (!hpcrun::is_ready() || !next.valloc) return hpcrun::fail(ENOMEM);
  return reported_if_needed(next.valloc(bytes), bytes, hpcrun::kPage, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* pvalloc(size_t bytes) {
  if (!hpcrun::is_ready() || !next.pvalloc) return hpcrun::fail(ENOMEM);
  return reported_if_needed(next.pvalloc(bytes), bytes, hpcrun::kPage, __builtin_dwarf_cfa());
}
