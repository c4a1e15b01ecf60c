// Interposes on the calls by which programs and their libraries map memory. Their memory becomes common if
// the process's memory is (common_calls.h).

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hpcrun/interpose/next_function.h"
#include "repair/isolate/controller/controller.h"
#include "repair/isolate/memory/common_calls.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/earlier_memory.h"
#include "repair/isolate/preload/second_allocator.h"
#include "repair/isolate/preload/start.h"
#include "repair/isolate/session/converted_thread.h"

using namespace hpcrun;

namespace {

// Converts a system call's result to the C library's convention.
long with_errno(long result) noexcept {
  if (result >= 0 || result <= -4096) return result;
  errno = static_cast<int>(-result);
  return -1;
}

void* place(long result) noexcept {
  return reinterpret_cast<void*>(with_errno(result));
}

// True for memory that every process of the program has without a system call, whichever of them maps it.
bool is_plain(void* at, int protection, int flags) noexcept {
  return !at && protection == (PROT_READ | PROT_WRITE) &&
         (flags & ~MAP_NORESERVE) == (MAP_PRIVATE | MAP_ANONYMOUS);
}

// A change of the address space is made at home. If it removes something, no other thread may be converted
// meanwhile, because converted threads still have what was there. A converted thread does not have what is
// added, and comes home for that.
class Change {
 public:
  Change(void* at, size_t bytes, bool takes_away) noexcept
      : all_at_home_(takes_away && !is_reserved(at, bytes)) {
    if (takes_away) end_isolation_of(reinterpret_cast<uint64_t>(at), reinterpret_cast<uint64_t>(at) + bytes);
  }

 private:
  const StaysHome home_;
  const AllAtHome all_at_home_;
};

}  // namespace

HPCRUN_EXPORT void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (is_plain(at, protection, flags) && is_loading_second_allocator()) return place(map_for_later(bytes));
  if (is_plain(at, protection, flags)) return place(common_mmap(at, bytes, protection, flags, file, offset));
  const Change change(at, bytes, flags & MAP_FIXED);
  return place(common_mmap(at, bytes, protection, flags, file, offset));
}

// The same for callers that were compiled for large files.
HPCRUN_EXPORT __attribute__((alias("mmap"))) void* mmap64(void* at, size_t bytes, int protection, int flags,
                                                          int file, off64_t offset);

HPCRUN_EXPORT int munmap(void* at, size_t bytes) {
  if (is_loading_second_allocator()) return 0;  // its addresses must not be used otherwise
  const Change change(at, bytes, true);
  return static_cast<int>(with_errno(common_munmap(at, bytes)));
}

namespace {

// Code that may do less with a page must be stopped there, in converted threads as well, as Java stops its
// threads.
class ChangedProtection {
 public:
  ChangedProtection(void* at, size_t bytes, int protection) noexcept
      : change_(at, bytes, false), all_at_home_(!is_plain_protection(protection)) {
    if (!is_plain_protection(protection))
      end_isolation_of(reinterpret_cast<uint64_t>(at), reinterpret_cast<uint64_t>(at) + bytes);
  }

 private:
  static bool is_plain_protection(int protection) noexcept { return protection == (PROT_READ | PROT_WRITE); }
  const Change change_;
  const AllAtHome all_at_home_;
};

}  // namespace

HPCRUN_EXPORT int mprotect(void* at, size_t bytes, int protection) {
  const ChangedProtection change(at, bytes, protection);
  return static_cast<int>(with_errno(common_mprotect(at, bytes, protection)));
}

HPCRUN_NEXT_OF(pkey_mprotect);
HPCRUN_EXPORT int pkey_mprotect(void* at, size_t bytes, int protection, int key) {
  const ChangedProtection change(at, bytes, protection);
  const int result = HPCRUN_NEXT(pkey_mprotect)(at, bytes, protection, key);
  if (result == 0) common_protection_changed(at, bytes);
  return result;
}

HPCRUN_EXPORT int madvise(void* at, size_t bytes, int advice) {
  const bool takes_away = advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE;
  const Change change(at, bytes, takes_away);
  return static_cast<int>(with_errno(common_madvise(at, bytes, advice)));
}

HPCRUN_EXPORT int mlockall(int flags) {
  return static_cast<int>(with_errno(common_mlockall(flags)));
}

HPCRUN_EXPORT void* mremap(void* at, size_t bytes, size_t new_bytes, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void* const new_at = flags & MREMAP_FIXED ? va_arg(more, void*) : nullptr;
  va_end(more);
  const Change change(at, bytes, true);
  const AllAtHome all_at_home(true);
  return place(common_mremap(at, bytes, new_bytes, flags, new_at));
}

HPCRUN_NEXT_OF(sbrk);
HPCRUN_NEXT_OF(brk);

HPCRUN_EXPORT void* sbrk(intptr_t more) {
  void* const before = HPCRUN_NEXT(sbrk)(0);
  if (!more) return before;
  const Change change(nullptr, 0, more < 0);
  void* const result = HPCRUN_NEXT(sbrk)(more);
  if (result != reinterpret_cast<void*>(-1)) common_break_moved(before, HPCRUN_NEXT(sbrk)(0));
  return result;
}

HPCRUN_EXPORT int brk(void* to) {
  void* const before = HPCRUN_NEXT(sbrk)(0);
  const Change change(nullptr, 0, to < before);
  const int result = HPCRUN_NEXT(brk)(to);
  if (result == 0) common_break_moved(before, to);
  return result;
}

// The kernel counts the reservation as address space, and its private mapping as data. There is none from the
// first such limit on. A stack that lies in a mapping does not grow just because its limit does.
namespace {

void before_limit(int resource, const rlimit* limit) noexcept {
  if (!limit || limit->rlim_cur == RLIM_INFINITY) return;
  if (resource == RLIMIT_AS || resource == RLIMIT_DATA) before_limit_of_memory();
}

void after_limit(int resource, const rlimit* limit) noexcept {
  if (limit && resource == RLIMIT_STACK) common_stack_limit_changed(limit->rlim_cur);
}

}  // namespace

HPCRUN_NEXT_OF(setrlimit);
HPCRUN_NEXT_OF(prlimit);

HPCRUN_EXPORT int setrlimit(__rlimit_resource_t resource, const rlimit* limit) noexcept {
  before_limit(resource, limit);
  const int result = HPCRUN_NEXT(setrlimit)(resource, limit);
  if (result == 0) after_limit(resource, limit);
  return result;
}

HPCRUN_EXPORT int prlimit(pid_t process, __rlimit_resource resource, const rlimit* limit,
                          rlimit* before) noexcept {
  const bool is_own = process == 0 || process == getpid();
  if (is_own) before_limit(resource, limit);
  const int result = HPCRUN_NEXT(prlimit)(process, resource, limit, before);
  if (result == 0 && is_own) after_limit(resource, limit);
  return result;
}

HPCRUN_EXPORT __attribute__((alias("setrlimit"), copy(setrlimit))) int setrlimit64(
    __rlimit_resource_t resource, const rlimit64* limit) noexcept;
HPCRUN_EXPORT __attribute__((alias("prlimit"), copy(prlimit))) int prlimit64(pid_t process,
                                                                             __rlimit_resource resource,
                                                                             const rlimit64* limit,
                                                                             rlimit64* before) noexcept;
