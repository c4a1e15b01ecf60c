#include "hpcrun/heap/preload/allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>

#include "hpcrun/heap/preload/early_memory.h"

constinit hpcrun::HeapHooks hpcrun_heap_hooks{};

namespace hpcrun {

extern constinit HeapHooks heap_hooks __attribute__((alias("hpcrun_heap_hooks")));

namespace {

void* first_malloc(size_t bytes) noexcept {
  return is_ready() ? next.malloc(bytes) : allocate_early(bytes);
}

void* first_calloc(size_t count, size_t each) noexcept {
  if (is_ready()) return next.calloc(count, each);
  size_t bytes;
  if (!__builtin_mul_overflow(count, each, &bytes)) return allocate_early(bytes);
  errno = ENOMEM;
  return nullptr;
}

void* first_realloc(void* at, size_t bytes) noexcept {
  if (is_ready()) return next.realloc(at, bytes);
  return at ? nullptr : allocate_early(bytes);
}

// Ignores what the thread releases that looks up the allocator: it has nothing from the allocator yet.
void first_free(void* at) noexcept {
  if (is_ready()) next.free(at);
}

}  // namespace

constinit Allocator next{
    .malloc = first_malloc, .calloc = first_calloc, .realloc = first_realloc, .free = first_free};
constinit std::atomic<Lookup> lookup{Lookup::NotYet};

namespace {

bool is_in_c_library(const void* function) noexcept {
  Dl_info of_function, of_library;
  return dladdr(function, &of_function) &&
         dladdr(reinterpret_cast<const void*>(gnu_get_libc_version), &of_library) &&
         of_function.dli_fbase == of_library.dli_fbase;
}

}  // namespace

[[gnu::noinline]] bool look_up() noexcept {
  if (lookup.load(std::memory_order_acquire) == Lookup::UnderWay) return false;
  lookup.store(Lookup::UnderWay, std::memory_order_relaxed);
  const int error = errno;
#define HPCRUN_FIND(name) void* const found_##name = find_next(#name);
  HPCRUN_ALLOCATOR_CALLS(HPCRUN_FIND)
#undef HPCRUN_FIND
  next.is_c_library = is_in_c_library(found_free);
#define HPCRUN_KEEP(name) \
  __atomic_store_n(&next.name, reinterpret_cast<decltype(&(::name))>(found_##name), __ATOMIC_RELAXED);
  HPCRUN_ALLOCATOR_CALLS(HPCRUN_KEEP)
#undef HPCRUN_KEEP
  errno = error;
  lookup.store(Lookup::Done, std::memory_order_release);
  return true;
}

namespace {

// Runs before the program has threads, unless an allocation was made earlier.
__attribute__((constructor(101))) void start() noexcept {
  is_ready();
}

}  // namespace

}  // namespace hpcrun
