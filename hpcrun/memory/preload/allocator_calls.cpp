// libhpcrun-memory.so: preloaded behind the runtime it has the program's calls of its allocator, whichever
// that is, and of mmap(), passes them on, and tells the runtime of them. C++'s operators are left alone: they
// allocate by malloc, and where a program has others, or comes to load C++ late, nothing of ours could stand
// in for them.

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "hpcrun/memory/heap_hooks.h"
#include "hpcrun/memory/preload/early_memory.h"

#define HPCRUN_EXPORT extern "C" __attribute__((visibility("default")))

#define HPCRUN_ALLOCATOR_CALLS(X) \
  X(malloc)                       \
  X(calloc)                       \
  X(realloc)                      \
  X(reallocarray)                 \
  X(free)                         \
  X(posix_memalign)               \
  X(aligned_alloc)                \
  X(memalign)                     \
  X(valloc)                       \
  X(pvalloc)                      \
  X(mmap)                         \
  X(munmap)                       \
  X(mremap)

HPCRUN_EXPORT hpcrun::HeapHooks hpcrun_heap_hooks;
constinit hpcrun::HeapHooks hpcrun_heap_hooks{};

namespace hpcrun {

namespace {

// The functions that ours stand in front of; nullptr: the allocator lacks it.
struct Allocator {
#define HPCRUN_MEMBER(name) decltype(&::name) name;
  HPCRUN_ALLOCATOR_CALLS(HPCRUN_MEMBER)
#undef HPCRUN_MEMBER
};

enum class Lookup { NotYet, UnderWay, Done };

constinit Allocator behind{};
constinit std::atomic<Lookup> lookup{Lookup::NotYet};

template <typename Function>
void find(Function& function, const char* name) noexcept {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (!function) dlerror();  // the program must not find our failure
}

// False while it is being looked up: who looks it up allocates.
[[gnu::noinline]] bool look_up() noexcept {
  if (lookup.load(std::memory_order_acquire) == Lookup::UnderWay) return false;
  lookup.store(Lookup::UnderWay, std::memory_order_relaxed);
  const int error = errno;
#define HPCRUN_FIND(name) find(behind.name, #name);
  HPCRUN_ALLOCATOR_CALLS(HPCRUN_FIND)
#undef HPCRUN_FIND
  errno = error;
  lookup.store(Lookup::Done, std::memory_order_release);
  return true;
}

inline bool is_ready() noexcept {
  if (lookup.load(std::memory_order_acquire) == Lookup::Done) [[likely]]
    return true;
  return look_up();
}

// Before the program has threads, if nobody allocated yet.
__attribute__((constructor(101))) void start() noexcept {
  is_ready();
}

// `frame`: of the function that was called.
inline void* told(void* at, size_t bytes, const void* frame) noexcept {
  if (const auto hook = hpcrun_heap_hooks.allocated.load(std::memory_order_acquire); hook && at)
    hook(at, bytes, frame);
  return at;
}

// What cannot be written to is nobody's data, but a reservation or a file that is read.
inline void* told_mapped(void* at, size_t bytes, int protection, const void* frame) noexcept {
  const auto hook = hpcrun_heap_hooks.mapped.load(std::memory_order_acquire);
  if (hook && at != MAP_FAILED && protection & PROT_WRITE) hook(at, bytes, frame);
  return at;
}

inline void tell_unmapped(void* at) noexcept {
  if (const auto hook = hpcrun_heap_hooks.unmapped.load(std::memory_order_acquire)) hook(at);
}

inline void tell_released(void* at) noexcept {
  if (const auto hook = hpcrun_heap_hooks.released.load(std::memory_order_acquire); hook && at) hook(at);
}

void* fail(int error) noexcept {
  errno = error;
  return nullptr;
}

// From early memory into the allocator's.
void* move_early(void* from, size_t bytes) noexcept {
  void* const to = is_ready() ? behind.malloc(bytes) : allocate_early(bytes);
  if (to) memcpy(to, from, std::min(bytes, early_bytes(from)));
  return to;
}

// As the allocator before us would do it, with what it was before kept where it fails. What stays in its
// place is another allocation from now on.
template <typename Reallocate>
inline void* reallocated(void* before, size_t bytes, const void* frame, Reallocate reallocate) noexcept {
  if (is_early(before)) return told(move_early(before, bytes), bytes, frame);
  tell_released(before);
  return told(reallocate(), bytes, frame);
}

}  // namespace

}  // namespace hpcrun

using hpcrun::behind;
using hpcrun::told;

HPCRUN_EXPORT void* malloc(size_t bytes) {
  if (!hpcrun::is_ready()) [[unlikely]]
    return hpcrun::allocate_early(bytes);
  return told(behind.malloc(bytes), bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void free(void* at) {
  if (hpcrun::is_early(at)) [[unlikely]]
    return;
  if (!hpcrun::is_ready()) [[unlikely]]
    return;  // by whoever looks the allocator up, and has nothing from it
  hpcrun::tell_released(at);
  behind.free(at);
}

HPCRUN_EXPORT void* calloc(size_t count, size_t each) {
  size_t bytes;
  if (!hpcrun::is_ready()) [[unlikely]]
    return __builtin_mul_overflow(count, each, &bytes) ? hpcrun::fail(ENOMEM) : hpcrun::allocate_early(bytes);
  return told(behind.calloc(count, each), count * each, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* realloc(void* at, size_t bytes) {
  if (!at) {
    if (!hpcrun::is_ready()) [[unlikely]]
      return hpcrun::allocate_early(bytes);
    return told(behind.realloc(nullptr, bytes), bytes, __builtin_dwarf_cfa());
  }
  return hpcrun::reallocated(at, bytes, __builtin_dwarf_cfa(), [=]() noexcept {
    return hpcrun::is_ready() ? behind.realloc(at, bytes) : nullptr;
  });
}

HPCRUN_EXPORT void* reallocarray(void* at, size_t count, size_t each) {
  size_t bytes;
  if (__builtin_mul_overflow(count, each, &bytes)) return hpcrun::fail(ENOMEM);
  return hpcrun::reallocated(at, bytes, __builtin_dwarf_cfa(), [=]() noexcept -> void* {
    if (!hpcrun::is_ready()) return hpcrun::allocate_early(bytes);
    return behind.reallocarray ? behind.reallocarray(at, count, each) : behind.realloc(at, bytes);
  });
}

HPCRUN_EXPORT int posix_memalign(void** out, size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !behind.posix_memalign) return ENOMEM;
  const int error = behind.posix_memalign(out, align, bytes);
  if (!error) told(*out, bytes, __builtin_dwarf_cfa());
  return error;
}

HPCRUN_EXPORT void* aligned_alloc(size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !behind.aligned_alloc) return hpcrun::fail(ENOMEM);
  return told(behind.aligned_alloc(align, bytes), bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* memalign(size_t align, size_t bytes) {
  if (!hpcrun::is_ready() || !behind.memalign) return hpcrun::fail(ENOMEM);
  return told(behind.memalign(align, bytes), bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* valloc(size_t bytes) {
  if (!hpcrun::is_ready() || !behind.valloc) return hpcrun::fail(ENOMEM);
  return told(behind.valloc(bytes), bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* pvalloc(size_t bytes) {
  if (!hpcrun::is_ready() || !behind.pvalloc) return hpcrun::fail(ENOMEM);
  return told(behind.pvalloc(bytes), bytes, __builtin_dwarf_cfa());
}

HPCRUN_EXPORT void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  void* const mapped =
      hpcrun::is_ready()
          ? behind.mmap(at, bytes, protection, flags, file, offset)
          : reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
  return hpcrun::told_mapped(mapped, bytes, protection, __builtin_dwarf_cfa());
}

// The same for callers that were compiled for large files.
HPCRUN_EXPORT __attribute__((alias("mmap"))) void* mmap64(void* at, size_t bytes, int protection, int flags,
                                                          int file, off64_t offset);

HPCRUN_EXPORT int munmap(void* at, size_t bytes) {
  hpcrun::tell_unmapped(at);
  return hpcrun::is_ready() ? behind.munmap(at, bytes) : static_cast<int>(syscall(SYS_munmap, at, bytes));
}

// What stays in its place is another mapping from now on.
HPCRUN_EXPORT void* mremap(void* at, size_t before, size_t bytes, int flags, ...) {
  void* to = nullptr;
  if (flags & MREMAP_FIXED) {
    va_list arguments;
    va_start(arguments, flags);
    to = va_arg(arguments, void*);
    va_end(arguments);
  }
  hpcrun::tell_unmapped(at);
  void* const mapped = hpcrun::is_ready()
                           ? behind.mremap(at, before, bytes, flags, to)
                           : reinterpret_cast<void*>(syscall(SYS_mremap, at, before, bytes, flags, to));
  return hpcrun::told_mapped(mapped, bytes, PROT_WRITE, __builtin_dwarf_cfa());
}
