#include "repair/isolate/common_memory.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/memfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/own_mappings.h"
#include "repair/isolate/blocked_signals.h"
#include "repair/isolate/common_state.h"
#include "repair/isolate/move_mappings.h"

namespace hpcrun {

constinit CommonState common_state;

namespace {

constexpr char kFileName[] = "prof-common";

// What is mapped later is handed out of it. Address space costs nothing; less is tried where there is none.
constexpr uint64_t kMostReserved = uint64_t{64} << 30;
constexpr uint64_t kLeastReserved = uint64_t{1} << 30;

std::atomic<const char*> refusal{nullptr};

bool refuse(const char* why) noexcept {
  refusal.store(why, std::memory_order_relaxed);
  return false;
}

bool has_one_thread() noexcept {
  struct stat task {};
  if (raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>("/proc/self/task"),
                  reinterpret_cast<long>(&task), 0) < 0)
    return true;              // who mounts no /proc is told of that later
  return task.st_nlink <= 3;  // itself, its parent, and one for each thread
}

bool has_limit(int resource) noexcept {
  rlimit limit{};
  return raw_syscall(SYS_prlimit64, 0, resource, 0, reinterpret_cast<long>(&limit)) == 0 &&
         limit.rlim_cur != RLIM_INFINITY;
}

// Where the kernel promises no memory that it does not have, malloc() fails in time; a page of a file that is
// not there would be a SIGBUS.
bool promises_no_more_than_there_is() noexcept {
  const long file = raw_syscall(
      SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/sys/vm/overcommit_memory"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char mode = '0';
  raw_syscall(SYS_read, file, reinterpret_cast<long>(&mode), 1);
  raw_syscall(SYS_close, file);
  return mode == '2';
}

const char* open_file() noexcept {
#ifndef MFD_EXEC
  constexpr unsigned MFD_EXEC = 0x10;  // programs may execute what they write (Linux 6.3)
#endif
  long file = raw_syscall(SYS_memfd_create, reinterpret_cast<long>(kFileName), MFD_CLOEXEC | MFD_EXEC);
  if (file == -EINVAL) file = raw_syscall(SYS_memfd_create, reinterpret_cast<long>(kFileName), MFD_CLOEXEC);
  if (file < 0) return "memfd_create() is refused";
  struct stat status {};
  if (raw_syscall(SYS_ftruncate, file, static_cast<long>(kAddressSpaceBytes)) < 0 ||
      raw_syscall(SYS_fstat, file, reinterpret_cast<long>(&status)) < 0) {
    raw_syscall(SYS_close, file);
    return "a file in memory cannot be as large as the address space";
  }
  common_state.file = adopt_descriptor(static_cast<int>(file));
  common_state.inode = status.st_ino;
  return nullptr;
}

// The tables of pages and the reservation behind them.
const char* make_hold() noexcept {
  constexpr uint64_t kTables = 3 * PageBits::kBytes;
  for (uint64_t reserved = kMostReserved; reserved >= kLeastReserved; reserved /= 2) {
    void* const at =
        sys_mmap(nullptr, kTables + reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    const auto low = reinterpret_cast<uint64_t>(at);
    const uint64_t high = low + kTables + reserved;
    if (map_file_at(low, high, PROT_READ | PROT_WRITE) < 0) {
      sys_munmap(at, high - low);
      continue;
    }
    sys_madvise(at, high - low, MADV_DONTDUMP);
    const auto table = [=](uint64_t number) {
      return PageBits(reinterpret_cast<void*>(low + number * PageBits::kBytes));
    };
    common_state.common = table(0);
    common_state.altered = table(1);
    common_state.taken = table(2);
    common_state.hold_low = low;
    common_state.reservation_low = low + kTables;
    common_state.reservation_high = high;
    common_state.first_free = common_state.dumped_below = low + kTables;
    common_state.common.set(low, low + kTables);
    const uint64_t view = map_view(low + kTables, high);
    if (!view) {
      sys_munmap(at, high - low);
      continue;
    }
    common_state.stretches[0] = {low + kTables, high, view};
    common_state.stretch_count = 1;
    return nullptr;
  }
  return "the address space has no room for it";
}

const char* begin() noexcept {
  if (has_limit(RLIMIT_AS)) return "the address space is limited (ulimit -v)";
  if (has_limit(RLIMIT_DATA)) return "memory is limited (ulimit -d)";
  if (has_limit(RLIMIT_FSIZE)) return "the size of files is limited (ulimit -f)";
  if (promises_no_more_than_there_is())
    return "the kernel commits no more memory than it has (vm.overcommit_memory)";
  if (const char* why = open_file()) return why;
  const char* const why = make_hold();
  if (why) {
    close_own_descriptor(common_state.file);
    common_state.file = -1;
  }
  return why;
}

}  // namespace

bool is_common_file(const char* name) noexcept {
  constexpr char kInMaps[] = "/memfd:prof-common";
  return !strncmp(name, kInMaps, sizeof kInMaps - 1);
}

bool make_common() noexcept {
  BlockedSignals blocked;
  if (common_state.phase == CommonPhase::None) {
    if (!has_one_thread()) return refuse("the program has threads already");
    if (const char* why = begin()) return refuse(why);
  }
  common_state.phase = CommonPhase::Common;
  if (const char* why = move_mappings(-1, 0)) {
    leave_common();
    return refuse(why);
  }
  refusal.store(nullptr, std::memory_order_relaxed);
  return true;
}

const char* why_not_common() noexcept {
  return refusal.load(std::memory_order_relaxed);
}

void leave_common() noexcept {}

bool is_common(const void* address) noexcept {
  const auto at = reinterpret_cast<uint64_t>(address);
  if (common_state.phase.load(std::memory_order_acquire) != CommonPhase::Common) return false;
  return common_state.common.has(at);
}

int common_memory_file() noexcept {
  return common_state.phase.load(std::memory_order_acquire) == CommonPhase::Common ? common_state.file : -1;
}

void* common_view(const void* page) noexcept {
  if (!is_common(page)) return nullptr;
  const auto at = reinterpret_cast<uint64_t>(page);
  const uint32_t count = common_state.stretch_count.load(std::memory_order_acquire);
  for (uint32_t number = 0; number < count; ++number) {
    const CommonStretch& stretch = common_state.stretches[number];
    if (at >= stretch.low && at < stretch.high)
      return reinterpret_cast<void*>(stretch.view + (at - stretch.low));
  }
  return nullptr;
}

void empty_file_pages(uint64_t low, uint64_t high) noexcept {
  raw_syscall(SYS_fallocate, common_state.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<long>(low), static_cast<long>(high - low));
}

}  // namespace hpcrun
