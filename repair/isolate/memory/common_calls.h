#pragma once
// The calls by which programs map memory, for programs with common memory. Private anonymous mappings become
// common. They are taken from the reservation if it has room, so that every process of the program has them
// without a system call. The room that owns interposition calls these instead of the kernel.
//
// Each takes and returns what the system call of its name does, errors as -errno, and makes only that call if
// no memory is common. Async-signal-safe; errno is preserved. Calls that programs make without the C library,
// and those that the C library makes internally, are not seen: memory that they map is private, and memory of
// ours that they release stays in the file until it is mapped again. A converted thread maps and releases
// plain memory in the reservation, which all processes have; for all else it comes home first.
//
// Files that are mapped privately and written to are private until the next make_common() moves them.
// Allocators that map by these calls have a common heap; of the well-maintained ones, mimalloc has the lowest
// overhead (tests/bench/common_heap). A library that is loaded with RTLD_DEEPBIND bypasses any preloaded
// allocator and calls the C library's free(), which crashes the program, as PHP's libraries do. Code that
// interposes on dlopen() removes that flag.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Remain private: huge pages, stacks that grow, and mappings of more than 256 GiB. An address without
// MAP_FIXED is a hint, followed if nothing is mapped there.
long common_mmap(void* at, size_t bytes, int protection, int flags, int file, int64_t offset) noexcept;
long common_munmap(void* at, size_t bytes) noexcept;
long common_mprotect(void* at, size_t bytes, int protection) noexcept;
// Called after another call (pkey_mprotect) has changed the protection of the range.
void common_protection_changed(void* at, size_t bytes) noexcept;
// Moves common memory by copying the pages that have contents.
long common_mremap(void* at, size_t bytes, size_t new_bytes, int flags, void* new_at) noexcept;
// MADV_DONTNEED and MADV_FREE give the pages back at once; MADV_WIPEONFORK makes the range private.
// MADV_HUGEPAGE and MADV_NOHUGEPAGE are hints. Common memory follows them if the system allows huge pages for
// files in memory (shmem_enabled); an isolated page is split off its huge page.
long common_madvise(void* at, size_t bytes, int advice) noexcept;
// Locks pages as they are touched. Locking the whole reservation would take all of the machine's memory.
long common_mlockall(int flags) noexcept;

// Called after the program has moved its break.
void common_break_moved(const void* before, const void* now) noexcept;

// Called after the stack limit was changed to `bytes`, so that the main stack can use them.
void common_stack_limit_changed(uint64_t bytes) noexcept;

}  // namespace hpcrun
