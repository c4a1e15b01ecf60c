#pragma once
// The calls by which programs map memory, for programs that have common memory: what they would get as
// private anonymous memory is common, taken from the reservation where that has room, so that it is there in
// every process of the program without a system call. The room that owns interposition calls these in the
// place of the kernel.
//
// All take and return what the system call of the name does, errors as -errno, and do that call alone where
// nothing is common. Async-signal-safe; errno is left alone. Calls that programs make without the C library,
// and that the C library makes inside, pass by: memory that they map is private, and what they release of
// ours stays in the file until it is mapped again. A converted thread maps plain memory out of the
// reservation, which all processes of the program have, and gives it back there; for all else it goes home
// first.
//
// Files that are mapped privately and written to are private until make_common() is called again, which moves
// them. Allocators that map by these calls have a common heap; of those that are well kept, mimalloc pays
// least for it (tests/bench/common_heap). A library that is loaded with RTLD_DEEPBIND calls the C library's
// free() behind the back of any preloaded allocator, and crashes the program, as PHP's do: who interposes
// dlopen() leaves the flag out.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Private still: huge pages, stacks that grow, and more than 256 GiB in one piece. An address without
// MAP_FIXED is a hint, followed if nothing is mapped there.
long common_mmap(void* at, size_t bytes, int protection, int flags, int file, int64_t offset) noexcept;
long common_munmap(void* at, size_t bytes) noexcept;
long common_mprotect(void* at, size_t bytes, int protection) noexcept;
// After another call has changed how the range is protected (pkey_mprotect).
void common_protection_changed(void* at, size_t bytes) noexcept;
// Common memory moves by a copy of the pages that have contents.
long common_mremap(void* at, size_t bytes, size_t new_bytes, int flags, void* new_at) noexcept;
// MADV_DONTNEED and MADV_FREE give the pages back at once, MADV_WIPEONFORK has the range private.
// MADV_HUGEPAGE and MADV_NOHUGEPAGE are hints, which common memory follows where the system has huge pages
// for files in memory (shmem_enabled); an isolated page is split off its huge page.
long common_madvise(void* at, size_t bytes, int advice) noexcept;
// Locks what comes to be touched: the reservation as a whole would be all of the machine's memory.
long common_mlockall(int flags) noexcept;

// After the program has moved its break.
void common_break_moved(const void* before, const void* now) noexcept;

// After the limit of the stack was changed to so many bytes: the main stack can use them.
void common_stack_limit_changed(uint64_t bytes) noexcept;

}  // namespace hpcrun
