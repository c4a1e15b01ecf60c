#pragma once
// The allocator behind libprof-heap.so, whichever it is, and what the runtime is told of its calls.

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <atomic>

#include "hpcrun/heap/heap_hooks.h"
#include "hpcrun/interpose/next_function.h"

#define HPCRUN_ALLOCATOR_CALLS(X) \
  X(malloc)                       \
  X(calloc)                       \
  X(realloc)                      \
  X(reallocarray)                 \
  X(free)                         \
  X(malloc_usable_size)           \
  X(posix_memalign)               \
  X(aligned_alloc)                \
  X(memalign)                     \
  X(valloc)                       \
  X(pvalloc)                      \
  X(mmap)                         \
  X(munmap)                       \
  X(mremap)

HPCRUN_EXPORT hpcrun::HeapHooks hpcrun_heap_hooks;

namespace hpcrun {

// The same, without a look into the table by which others find it.
extern constinit HeapHooks heap_hooks __attribute__((visibility("hidden")));

// The functions that ours stand in front of; nullptr: the allocator lacks it. malloc(), calloc(), realloc()
// and free() are always there: before these were looked up, ours that look them up, so that nobody has to ask
// whether that was done. Each is one word, which changes once, as the library is loaded.
struct Allocator {
#define HPCRUN_MEMBER(name) decltype(&(::name)) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  HPCRUN_ALLOCATOR_CALLS(HPCRUN_MEMBER)
#undef HPCRUN_MEMBER

  // Of the C library, which offers no way around free() to release. Others do, and take only what they gave.
  bool is_c_library = false;
};

enum class Lookup { NotYet, UnderWay, Done };

extern constinit Allocator behind;
extern constinit std::atomic<Lookup> lookup;

// False while it is being looked up: who looks it up allocates.
bool look_up() noexcept;

inline bool is_ready() noexcept {
  if (lookup.load(std::memory_order_acquire) == Lookup::Done) [[likely]]
    return true;
  return look_up();
}

// `align`: what the program asks for, 1 where it does not; `frame`: of the function that was called.
inline void* reported(void* at, size_t bytes, size_t align, const void* frame) noexcept {
  if (const auto hook = heap_hooks.allocated.load(std::memory_order_acquire); hook && at)
    hook(at, bytes, align, frame);
  return at;
}

// The same unless the call is passed over.
inline void* told(void* at, size_t bytes, size_t align, const void* frame) noexcept {
  const bool is_wanted = heap_hooks.allocated.load(std::memory_order_relaxed) != nullptr;
  return is_wanted && !heap_hooks.frequent.passes_over(bytes, frame) ? reported(at, bytes, align, frame) : at;
}

inline void tell_released(void* at) noexcept {
  if (const auto hook = heap_hooks.released.load(std::memory_order_acquire);
      hook && heap_hooks.known.may_hold(reinterpret_cast<uint64_t>(at)))
    hook(at);
}

// Is what is there the allocator's, of which nobody knows?
inline bool is_plain(const void* at) noexcept {
  return !heap_hooks.known.may_hold(reinterpret_cast<uint64_t>(at));
}

}  // namespace hpcrun
