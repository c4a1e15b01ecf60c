#include "hpcrun/guest/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

// The kernel sizes a process's descriptor table by its highest descriptor and copies it at every fork: 12 us
// for 4,096 and 4 us for 1,024. Limits of a million are common in containers. Therefore our descriptors are
// just below the usual limit of 1,024, even if the limit is higher.
constexpr int kUsualLimit = 1024;
constexpr int kHighest = 4096;  // if there is no room below that

// One bit each.
std::atomic<uint64_t> own[kHighest / 64];

void remember(int descriptor, bool is_own) noexcept {
  if (descriptor < 0 || descriptor >= kHighest) return;
  const uint64_t bit = uint64_t{1} << (descriptor % 64);
  if (is_own)
    own[descriptor / 64].fetch_or(bit, std::memory_order_relaxed);
  else
    own[descriptor / 64].fetch_and(~bit, std::memory_order_relaxed);
}

// Returns the limit of the process, at most kHighest.
int ceiling() noexcept {
  rlimit limit{};
  const long result = raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, reinterpret_cast<long>(&limit));
  return result == 0 ? static_cast<int>(std::min<uint64_t>(limit.rlim_cur, kHighest)) : kHighest;
}

// Returns a duplicate above `lowest` and close to `top`, or -1.
int duplicate_below(int descriptor, int lowest, int top) noexcept {
  // From the top down, so that our descriptors stay together regardless of the order in which they are
  // opened.
  for (int distance = 1; top - distance > lowest; distance *= 2) {
    const long moved = raw_syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, top - distance);
    if (moved >= 0 && moved < top) return static_cast<int>(moved);
    if (moved >= 0) raw_syscall(SYS_close, moved);
  }
  return -1;
}

// Returns a duplicate above `lowest`, close to the usual limit or, if there is no room, to the process's own.
// With a `share`, only the topmost 1/share of the numbers is used. Returns -1 if there is no room.
int duplicate_to_top(int descriptor, int lowest, int share = 1) noexcept {
  const int limit = ceiling();
  for (const int top : {std::min(limit, kUsualLimit), limit}) {
    const int least = share == 1 ? lowest : std::max(lowest, top - top / share - 1);
    if (const int moved = duplicate_below(descriptor, least, top); moved >= 0) return moved;
    if (top == limit) break;
  }
  return -1;
}

}  // namespace

int adopt_descriptor(int descriptor) noexcept {
  const int moved = duplicate_to_top(descriptor, descriptor);
  if (moved >= 0) raw_syscall(SYS_close, descriptor);
  const int adopted = moved >= 0 ? moved : descriptor;
  remember(adopted, true);
  return adopted;
}

int adopt_spare_descriptor(int descriptor) noexcept {
  constexpr int kShare = 8;  // the topmost eighth of the numbers
  const int moved = duplicate_to_top(descriptor, descriptor, kShare);
  raw_syscall(SYS_close, descriptor);
  remember(moved, true);
  return moved;
}

HPCRUN_FORK_PATH int replace_own_descriptor(int descriptor, int number) noexcept {
  const long moved = raw_syscall(SYS_dup3, descriptor, number, O_CLOEXEC);
  raw_syscall(SYS_close, descriptor);
  return static_cast<int>(moved);
}

int vacate_descriptor(int descriptor) noexcept {
  int moved = duplicate_to_top(descriptor, STDERR_FILENO);
  if (moved < 0)
    moved = static_cast<int>(raw_syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  remember(descriptor, false);
  remember(moved, true);
  return moved < 0 ? -1 : moved;
}

void close_own_descriptor(int descriptor) noexcept {
  remember(descriptor, false);
  raw_syscall(SYS_close, descriptor);
}

void remove_own_descriptor(int descriptor) noexcept {
  remember(descriptor, false);
}

void remember_descriptor(int descriptor) noexcept {
  remember(descriptor, true);
}

bool is_own_descriptor(int descriptor) noexcept {
  return descriptor >= 0 && descriptor < kHighest &&
         (own[descriptor / 64].load(std::memory_order_relaxed) >> (descriptor % 64) & 1);
}

int next_own_descriptor(unsigned first, unsigned last) noexcept {
  for (unsigned at = first; at <= last && at < kHighest; ++at) {
    const uint64_t word = own[at / 64].load(std::memory_order_relaxed) >> (at % 64);
    if (!word) {
      at |= 63;
      continue;
    }
    at += static_cast<unsigned>(__builtin_ctzll(word));
    return at <= last ? static_cast<int>(at) : -1;
  }
  return -1;
}

}  // namespace hpcrun
