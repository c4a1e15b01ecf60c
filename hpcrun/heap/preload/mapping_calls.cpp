// Interposes on mmap(), munmap() and mremap().

#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hpcrun/heap/preload/allocator.h"

namespace hpcrun {

namespace {

// Skips mappings that cannot be written to: they hold no data of the program, but are reservations or files
// that it reads.
inline void* reported_mapping(void* at, size_t bytes, int protection, const void* frame) noexcept {
  const auto hook = heap_hooks.mapped.load(std::memory_order_acquire);
  if (hook && at != MAP_FAILED && protection & PROT_WRITE) hook(at, bytes, frame);
  return at;
}

inline void report_unmapped(void* at) noexcept {
  if (const auto hook = heap_hooks.unmapped.load(std::memory_order_acquire)) hook(at);
}

}  // namespace

}  // namespace hpcrun

using hpcrun::next;

HPCRUN_EXPORT void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  void* const mapped =
      hpcrun::is_ready()
          ? next.mmap(at, bytes, protection, flags, file, offset)
          : reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
  return hpcrun::reported_mapping(mapped, bytes, protection, __builtin_dwarf_cfa());
}

// For callers that were compiled for large files.
HPCRUN_EXPORT __attribute__((alias("mmap"))) void* mmap64(void* at, size_t bytes, int protection, int flags,
                                                          int file, off64_t offset);

HPCRUN_EXPORT int munmap(void* at, size_t bytes) {
  hpcrun::report_unmapped(at);
  return hpcrun::is_ready() ? next.munmap(at, bytes) : static_cast<int>(syscall(SYS_munmap, at, bytes));
}

// Reports a mapping that stays in place as another mapping.
HPCRUN_EXPORT void* mremap(void* at, size_t before, size_t bytes, int flags, ...) {
  void* to = nullptr;
  if (flags & MREMAP_FIXED) {
    va_list arguments;
    va_start(arguments, flags);
    to = va_arg(arguments, void*);
    va_end(arguments);
  }
  hpcrun::report_unmapped(at);
  void* const mapped = hpcrun::is_ready()
                           ? next.mremap(at, before, bytes, flags, to)
                           : reinterpret_cast<void*>(syscall(SYS_mremap, at, before, bytes, flags, to));
  return hpcrun::reported_mapping(mapped, bytes, PROT_WRITE, __builtin_dwarf_cfa());
}
