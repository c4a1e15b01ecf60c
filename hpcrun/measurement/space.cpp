#include "hpcrun/measurement/space.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/own_process.h"
#include "hpcrun/guest/own_ranges.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/measurement/format.h"

namespace hpcrun {
namespace {

// Reserving costs a system call of a few microseconds on disk file systems. tmpfs clears the pages
// immediately (about 0.25 ms per MiB), in a handler. Therefore steps grow with the file and are bounded.
constexpr uint64_t kFirstReservation = 64 * 1024;
constexpr uint64_t kMaxReservation = 4 * 1024 * 1024;
constexpr int kInterruptedAttempts = 64;
// Value of taken_ once nothing can be taken any more.
constexpr uint64_t kClosed = uint64_t{1} << 62;

uint64_t soft_limit(int resource) noexcept {
  rlimit limit{};
  const long result = raw_syscall(SYS_prlimit64, 0, resource, 0, reinterpret_cast<long>(&limit));
  return result == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

int open_file(const char* path, int flags) noexcept {
  return static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                                      flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
}

void close_descriptor(int descriptor) noexcept {
  raw_syscall(SYS_close, descriptor);
}

bool out_of_space(long result) {
  return result == -ENOSPC || result == -EDQUOT || result == -EFBIG;
}

}  // namespace

int FileSpace::create(const char* path) noexcept {
  // The path is kept absolute: the file is reopened by name if the program closes our descriptor.
  size_t prefix = 0;
  if (path[0] != '/') {
    const long length =
        raw_syscall(SYS_getcwd, reinterpret_cast<long>(path_), static_cast<long>(sizeof path_ - 1));
    if (length < 0) return static_cast<int>(-length);
    prefix = static_cast<size_t>(length);  // counts the NUL, which the slash replaces
    path_[prefix - 1] = '/';
  }
  const size_t length = std::strlen(path);
  if (prefix + length >= sizeof path_) return ENAMETOOLONG;
  std::memcpy(path_ + prefix, path, length + 1);

  const int opened = open_file(path_, O_CREAT | O_EXCL);
  if (opened < 0) return -opened;
  struct stat status {};
  raw_syscall(SYS_fstat, opened, reinterpret_cast<long>(&status));
  device_ = status.st_dev;
  inode_ = status.st_ino;
  owner_ = own_process();
  failure_.store(0, std::memory_order_relaxed);
  taken_.store(0, std::memory_order_relaxed);
  reserved_.store(0, std::memory_order_relaxed);
  cannot_reserve_.store(false, std::memory_order_relaxed);
  descriptor_.store(adopt_descriptor(opened), std::memory_order_release);
  return 0;
}

bool FileSpace::owned() const noexcept {
  return descriptor() >= 0 && own_process() == owner_;
}

bool FileSpace::fail(int error) noexcept {
  int none = 0;
  failure_.compare_exchange_strong(none, error, std::memory_order_relaxed);
  return false;
}

// Not inlined, to keep its struct stat off the handler's stack during further calls.
__attribute__((noinline)) bool FileSpace::refers_to_file(int descriptor) const noexcept {
  struct stat status {};
  return raw_syscall(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) == 0 &&
         status.st_dev == device_ && status.st_ino == inode_;
}

// Returns a descriptor that refers to our file. A program that closes all descriptors, as daemons do, closes
// ours too. It may then have reused the number for a file of its own, which we must not write to.
int FileSpace::usable_descriptor() noexcept {
  int current = descriptor();
  if (refers_to_file(current)) return current;
  remove_own_descriptor(current);
  const int opened = open_file(path_, 0);
  if (opened < 0) return -1;
  if (!refers_to_file(opened)) {
    close_descriptor(opened);
    return -1;
  }
  const int moved = adopt_descriptor(opened);
  if (descriptor_.compare_exchange_strong(current, moved)) return moved;
  close_own_descriptor(moved);
  return current;
}

// For file systems without fallocate: written zeros occupy space. Writes only the caller's own range, since
// other threads may already be writing theirs.
bool FileSpace::write_zeros(uint64_t begin, uint64_t end) noexcept {
  static constexpr char kZeros[4096] = {};
  int interrupted = 0;
  while (begin < end) {
    const uint64_t bytes = std::min<uint64_t>(end - begin, sizeof kZeros);
    const long written = raw_syscall(SYS_pwrite64, descriptor(), reinterpret_cast<long>(kZeros),
                                     static_cast<long>(bytes), static_cast<long>(begin));
    if (written == -EINTR && ++interrupted < kInterruptedAttempts) continue;
    if (written <= 0) return fail(written == 0 ? ENOSPC : static_cast<int>(-written));
    begin += static_cast<uint64_t>(written);
  }
  return true;
}

bool FileSpace::reserve(uint64_t begin, uint64_t end) noexcept {
  // Growing past RLIMIT_FSIZE would raise SIGXFSZ, which kills the process.
  const uint64_t size_limit = soft_limit(RLIMIT_FSIZE);
  if (end > size_limit) return fail(EFBIG);
  if (cannot_reserve_.load(std::memory_order_relaxed)) return write_zeros(begin, end);

  uint64_t from = reserved_.load(std::memory_order_acquire);
  if (end <= from) return true;
  // A process without samples needs only the header.
  const uint64_t step = from == 0 ? 0 : std::clamp(from / 2, kFirstReservation, kMaxReservation);
  uint64_t to = std::min(std::max(end, from + step), size_limit);
  long result;
  int interrupted = 0;
  // Threads may reserve overlapping ranges at the same time: fallocate does not change existing data.
  for (;;) {
    result =
        raw_syscall(SYS_fallocate, descriptor(), 0, static_cast<long>(from), static_cast<long>(to - from));
    if (result == -EINTR && ++interrupted < kInterruptedAttempts) continue;
    if (!out_of_space(result) || to == end) break;
    to = end;
  }
  if (result == -EOPNOTSUPP || result == -ENOSYS) {
    cannot_reserve_.store(true, std::memory_order_relaxed);
    return write_zeros(begin, end);
  }
  if (result < 0) return fail(static_cast<int>(-result));
  while (from < to && !reserved_.compare_exchange_weak(from, to, std::memory_order_release)) {
  }
  return true;
}

int64_t FileSpace::take(size_t bytes) noexcept {
  assert(bytes > 0 && bytes % kPageBytes == 0);
  if (failure() != 0 || !owned()) return -1;
  const uint64_t offset = taken_.fetch_add(bytes, std::memory_order_relaxed);
  if (offset >= kClosed) return -1;
  if (usable_descriptor() < 0) {
    fail(EBADF);
    return -1;
  }
  return reserve(offset, offset + bytes) ? static_cast<int64_t>(offset) : -1;
}

bool FileSpace::map_ahead() noexcept {
  void* const at =
      sys_mmap(nullptr, kAheadBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor(), 0);
  if (at == MAP_FAILED) return false;
  note_own_range(at, kAheadBytes, true);
  ahead_ = static_cast<char*>(at);
  ahead_bytes_.store(kAheadBytes, std::memory_order_release);
  return true;
}

void FileSpace::map_less_ahead() noexcept {
  // Margin for threads that have taken space and are about to map it: they may still assume that it is
  // mapped.
  constexpr size_t kOnTheWay = size_t{64} << 20;
  const size_t bytes = ahead_bytes_.load(std::memory_order_acquire);
  const uint64_t kept = taken_.load(std::memory_order_acquire) + kOnTheWay;
  if (!ahead_ || kept >= bytes) return;
  ahead_bytes_.store(kept, std::memory_order_release);
  remove_own_range(ahead_);
  note_own_range(ahead_, kept, true);
  sys_munmap(ahead_ + kept, bytes - kept);
}

bool FileSpace::is_ahead(const void* at) const noexcept {
  const auto offset = reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(ahead_);
  return ahead_ && offset < ahead_bytes_.load(std::memory_order_acquire);
}

void FileSpace::unmap(void* at, size_t bytes) noexcept {
  if (is_ahead(at)) return;
  remove_own_range(at);
  sys_munmap(at, bytes);
}

void* FileSpace::map(int64_t offset, size_t bytes) noexcept {
  const uint64_t end = static_cast<uint64_t>(offset) + bytes;
  if (ahead_ && end <= ahead_bytes_.load(std::memory_order_acquire)) return ahead_ + offset;
  void* at = sys_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), offset);
  if (at == MAP_FAILED) {
    fail(ENOMEM);
    return nullptr;
  }
  note_own_range(at, bytes, false);
  return at;
}

uint64_t FileSpace::close_and_trim() noexcept {
  const uint64_t end = taken_.exchange(kClosed, std::memory_order_relaxed);
  if (end >= kClosed || !owned() || usable_descriptor() < 0) return 0;
  struct stat status {};
  raw_syscall(SYS_fstat, descriptor(), reinterpret_cast<long>(&status));
  const auto size = static_cast<uint64_t>(status.st_size);
  // The file is smaller than what was reserved: it was truncated, and data past its end is lost.
  if (size < std::min(end, reserved_.load(std::memory_order_acquire))) fail(ESTALE);
  // The file only ever shrinks. A thread that has taken space and not yet reserved it finds it inside, or
  // fails.
  if (end < size) raw_syscall(SYS_ftruncate, descriptor(), static_cast<long>(end));
  return std::min(end, size);
}

void FileSpace::release_descriptor() noexcept {
  const int held = descriptor_.exchange(-1);
  if (held >= 0) refers_to_file(held) ? close_own_descriptor(held) : remove_own_descriptor(held);
}

void FileSpace::detach() noexcept {
  release_descriptor();
  owner_ = 0;
  if (ahead_) {
    remove_own_range(ahead_);
    sys_munmap(ahead_, ahead_bytes_.load());
  }
  ahead_ = nullptr;
  ahead_bytes_.store(0);
}

}  // namespace hpcrun
