#pragma once
// The allocator that libprof-heap.so interposes on, and the reports of its calls to the runtime.

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

// The same object, without the symbol lookup that other libraries need to find it.
extern constinit HeapHooks heap_hooks __attribute__((visibility("hidden")));

// The next allocator's functions, which the exported functions call; nullptr if it lacks one. malloc(),
// calloc(), realloc() and free() are never null: until the lookup they are functions that do the lookup
// first, so that callers need no check. Each is one word, which changes once, as the library is loaded.
struct Allocator {
#define HPCRUN_MEMBER(name) decltype(&(::name)) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  HPCRUN_ALLOCATOR_CALLS(HPCRUN_MEMBER)
#undef HPCRUN_MEMBER

  // The C library offers no way around free() to release memory. Other allocators do, and accept only their
  // own.
  bool is_c_library = false;
};

enum class Lookup { NotYet, UnderWay, Done };

extern constinit Allocator next;
extern constinit std::atomic<Lookup> lookup;

// Returns false while a lookup is under way: the thread that looks up the functions allocates memory.
bool look_up() noexcept;

inline bool is_ready() noexcept {
  if (lookup.load(std::memory_order_acquire) == Lookup::Done) [[likely]]
    return true;
  return look_up();
}

// Reports an allocation to the runtime. `align`: the alignment that the program requested, or 1; `frame`:
// that of the called function.
inline void* reported(void* at, size_t bytes, size_t align, const void* frame) noexcept {
  if (const auto hook = heap_hooks.allocated.load(std::memory_order_acquire); hook && at)
    hook(at, bytes, align, frame);
  return at;
}

// Does the same, unless the limit on frequent calls leaves this one out.
inline void* reported_if_needed(void* at, size_t bytes, size_t align, const void* frame) noexcept {
  const bool is_wanted = heap_hooks.allocated.load(std::memory_order_relaxed) != nullptr;
  return is_wanted && !heap_hooks.frequent.passes_over(bytes, frame) ? reported(at, bytes, align, frame) : at;
}

inline void report_released(void* at) noexcept {
  if (const auto hook = heap_hooks.released.load(std::memory_order_acquire);
      hook && heap_hooks.known.may_hold(reinterpret_cast<uint64_t>(at)))
    hook(at);
}

// True if the allocation is certainly not one that the runtime recorded.
inline bool is_plain(const void* at) noexcept {
  return !heap_hooks.known.may_hold(reinterpret_cast<uint64_t>(at));
}

}  // namespace hpcrun
