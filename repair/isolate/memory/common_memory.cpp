#include "repair/isolate/memory/common_memory.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/memfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/own_mappings.h"
#include "repair/isolate/memory/cmdline_mirror.h"
#include "repair/isolate/memory/common_state.h"
#include "repair/isolate/memory/earlier_memory.h"
#include "repair/isolate/memory/move_mappings.h"
#include "repair/isolate/memory/rekey_futex_waiters.h"
#include "repair/isolate/session/blocked_signals.h"
#include "repair/isolate/session/tasks.h"

namespace hpcrun {

constinit CommonState common_state;
constinit thread_local uint32_t own_common_calls = 0;

void wait_a_moment() noexcept {
  const timespec moment{0, 50'000};
  raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&moment), 0);
}

namespace {

constexpr char kFileName[] = "prof-common";

// The size for later mappings. Address space is free; smaller sizes are tried if it is not available.
constexpr uint64_t kMaxReserved = uint64_t{64} << 30;
constexpr uint64_t kMinReserved = uint64_t{1} << 30;

constexpr char kHasThreads[] = "the program has threads already";
constexpr char kNoSpace[] = "the address space is too small";
constexpr char kInCall[] = "a thread is mapping memory";

std::atomic<const char*> refusal{nullptr};

bool refuse(const char* why) noexcept {
  refusal.store(why, std::memory_order_relaxed);
  return false;
}

// False without /proc; that is reported later.
bool has_one_thread() noexcept {
  return count_tasks() <= 1;
}

bool has_limit(int resource) noexcept {
  rlimit limit{};
  return raw_syscall(SYS_prlimit64, 0, resource, 0, reinterpret_cast<long>(&limit)) == 0 &&
         limit.rlim_cur != RLIM_INFINITY;
}

// If the kernel overcommits no memory, malloc() fails in time, but a file page without memory would cause
// SIGBUS.
bool promises_no_more_than_there_is() noexcept {
  const long file = raw_syscall(
      SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/sys/vm/overcommit_memory"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char mode = '0';
  raw_syscall(SYS_read, file, reinterpret_cast<long>(&mode), 1);
  raw_syscall(SYS_close, file);
  return mode == '2';
}

const char* open_file(CommonHold& hold) noexcept {
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
    return "a memory file as large as the address space cannot be created";
  }
  hold.file = adopt_descriptor(static_cast<int>(file));
  hold.inode = status.st_ino;
  return nullptr;
}

// Maps the tables of pages and the reservation after them.
const char* map_hold(CommonHold& hold) noexcept {
  constexpr uint64_t kTables = 5 * PageBits::kBytes;
  for (uint64_t reserved = kMaxReserved; reserved >= kMinReserved; reserved /= 2) {
    const uint64_t bytes = kTables + reserved;
    void* const at = sys_mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    hold.low = reinterpret_cast<uint64_t>(at);
    // The program has given this earlier memory back. It stays mapped, so that the next try gets another
    // address.
    if (reaches_earlier(hold.low, hold.low + bytes)) continue;
    if (sys_mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, hold.file,
                 static_cast<int64_t>(hold.low)) == MAP_FAILED) {
      sys_munmap(at, bytes);
      continue;
    }
    sys_madvise(at, bytes, MADV_DONTDUMP);
    const auto table = [&](uint64_t number) {
      return PageBits(reinterpret_cast<void*>(hold.low + number * PageBits::kBytes));
    };
    hold.common = table(0);
    hold.altered = table(1);
    hold.taken = table(2);
    hold.closed = table(3);
    hold.offered = table(4);
    // Whole pieces only: adjacent memory may be earlier memory.
    hold.reservation_low = (hold.low + kTables + kPieceBytes - 1) / kPieceBytes * kPieceBytes;
    hold.reservation_high = (hold.low + bytes) / kPieceBytes * kPieceBytes;
    if (const uint64_t rest = hold.low + bytes - hold.reservation_high)
      sys_munmap(reinterpret_cast<void*>(hold.reservation_high), rest);
    return nullptr;
  }
  return kNoSpace;
}

const char* reason_never_common() noexcept {
  if (has_limit(RLIMIT_AS)) return "the address space is limited (ulimit -v)";
  if (has_limit(RLIMIT_DATA)) return "memory is limited (ulimit -d)";
  if (has_limit(RLIMIT_FSIZE)) return "the size of files is limited (ulimit -f)";
  if (promises_no_more_than_there_is()) return "the kernel does not overcommit memory (vm.overcommit_memory)";
  return nullptr;
}

const char* make_hold(CommonHold& hold) noexcept {
  if (const char* why = reason_never_common()) return why;
  if (const char* why = open_file(hold)) return why;
  const char* const why = map_hold(hold);
  if (why) close_own_descriptor(hold.file);
  return why;
}

void begin(const CommonHold& hold) noexcept {
  common_state.hold = hold;
  common_state.first_free = common_state.dumped_below = hold.reservation_low;
  common_state.phase = CommonPhase::Common;
}

// The contents are the same at every moment, even for threads that write there.
void make_private(void* is_done, const OwnMapping& mapping) noexcept {
  if (!is_common_file(mapping.name)) return;
  CommonHold& hold = common_state.hold;
  if (mapping.inode != hold.inode) {
    hold.common.set(mapping.low, mapping.high);  // from an earlier file, which make_common() could not move
    return;
  }
  if (!mapping.is_shared) return;  // private since an earlier fork
  void* const at = reinterpret_cast<void*>(mapping.low);
  const size_t bytes = mapping.high - mapping.low;
  if (sys_mmap(at, bytes, protection_of(mapping), MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, hold.file,
               static_cast<int64_t>(mapping.low)) == MAP_FAILED)
    *static_cast<bool*>(is_done) = false;
  // Core dumps would contain all of it.
  if (hold.is_table(mapping.low) || (hold.reserves(mapping.low) && mapping.low >= common_state.dumped_below))
    sys_madvise(at, bytes, MADV_DONTDUMP);
}

// Waits for CommonCall objects of other threads. One may be stopped, or wait for what this thread holds.
void await_calls() noexcept {
  constexpr int kMaxTries = 200;
  for (int tries = 0; tries < kMaxTries && common_state.calls_under_way > own_common_calls; ++tries)
    wait_a_moment();
}

bool make_all_private() noexcept {
  common_state.is_leaving = true;
  await_calls();
  common_state.phase = CommonPhase::Left;
  common_state.may_have_missed_some = common_state.calls_under_way != 0;
  bool is_done = true;
  for_each_mapping(make_private, &is_done);
  common_state.is_leaving = false;
  rekey_futex_waiters(common_state.hold.file);
  return is_done;
}

// Keeps what was handed out of an earlier reservation as private memory of the process, and unmaps the rest.
void unmap_unused(void* argument, const OwnMapping& mapping) noexcept {
  const auto& left = *static_cast<const CommonHold*>(argument);
  if (mapping.inode != left.inode || !is_common_file(mapping.name)) return;
  // If nothing of it was used, the tables are part of the same mapping.
  const uint64_t end = std::min(mapping.high, left.reservation_high);
  for (uint64_t low = std::max(mapping.low, left.reservation_low); low < end;) {
    const uint64_t high = left.common.run_end(low, end);
    if (!left.common.has(low)) sys_munmap(reinterpret_cast<void*>(low), high - low);
    low = high;
  }
}

void let_go_of(CommonHold& left) noexcept {
  for_each_mapping(unmap_unused, &left);
  sys_munmap(reinterpret_cast<void*>(left.low), left.reservation_low - left.low);
}

// Pages that are never isolated stay so.
void keep_closed(void* argument, const OwnMapping& mapping) noexcept {
  const PageBits& closed = static_cast<const CommonHold*>(argument)->closed;
  if (!mapping.is_writable || mapping.high > kAddressSpaceBytes) return;
  for (uint64_t low = mapping.low; low < mapping.high;) {
    const uint64_t high = closed.run_end(low, mapping.high);
    if (closed.has(low)) common_state.hold.closed.set(low, high);
    low = high;
  }
}

// Maps the table of pages that are never isolated, which is needed before any memory is common.
bool map_closed(CommonHold& hold) noexcept {
  void* const at = sys_mmap(nullptr, PageBits::kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  sys_madvise(at, PageBits::kBytes, MADV_DONTDUMP);
  hold.closed = PageBits(at);
  hold.low = reinterpret_cast<uint64_t>(at);
  return true;
}

void unmap_closed(const CommonHold& hold) noexcept {
  sys_munmap(reinterpret_cast<void*>(hold.low), PageBits::kBytes);
}

// Devices, and the kernel when it works for the program besides its threads, keep the pages that they were
// given, even if the program's memory has moved since.
void find_foreign_work(void* argument, const OwnMapping& mapping) noexcept {
  const auto begins_with = [&](const char* begin) { return !strncmp(mapping.name, begin, strlen(begin)); };
  auto& found = *static_cast<const char**>(argument);
  if (begins_with("/[aio]") || begins_with("anon_inode:[io_uring]"))
    found = "the program has asynchronous input and output (io_uring, libaio)";
  else if (begins_with("/dev/") && !begins_with("/dev/shm/") && !begins_with("/dev/zero"))
    found = "a device accesses memory of the program";
}

const char* reason_not_moved() noexcept {
  const char* why = nullptr;
  for_each_mapping(find_foreign_work, &why);
  return why;
}

bool has_file(const CommonHold& hold) noexcept {
  struct stat status {};
  return hold.file >= 0 && raw_syscall(SYS_fstat, hold.file, reinterpret_cast<long>(&status)) == 0 &&
         status.st_ino == hold.inode;
}

}  // namespace

bool is_common_file(const char* name) noexcept {
  constexpr char kInMaps[] = "/memfd:prof-common";
  return !strncmp(name, kInMaps, sizeof kInMaps - 1);
}

bool make_common(OtherThreads others) noexcept {
  BlockedSignals blocked;
  Locked locked(common_state.maps_lock);
  const CommonPhase phase = common_state.phase;
  if (others == OtherThreads::None && !has_one_thread()) return refuse(kHasThreads);
  if (others == OtherThreads::Stopped && phase != CommonPhase::Common) {
    // The private memory that they are about to map would not be moved, and the tables that they use
    // disappear.
    if (common_state.calls_under_way) return refuse(kInCall);
    if (const char* why = reason_not_moved()) return refuse(why);
  }
  CommonHold left;
  if (phase != CommonPhase::Common) {
    CommonHold hold;
    if (const char* why = make_hold(hold)) return refuse(why);
    left = common_state.hold;
    begin(hold);
    const bool was_awaited = common_state.is_awaited.exchange(false);
    if (phase == CommonPhase::Left || was_awaited) for_each_mapping(keep_closed, &left);
    if (phase == CommonPhase::Left) let_go_of(left);
    if (was_awaited) unmap_closed(left);
  }
  const bool has_left_file = has_file(left);
  const char* const why = move_mappings(has_left_file ? left.file : -1, left.inode);
  if (has_left_file) close_own_descriptor(left.file);
  if (why) {
    make_all_private();
    return refuse(why);
  }
  mirror_cmdline();
  refusal.store(nullptr, std::memory_order_relaxed);
  return true;
}

bool await_common() noexcept {
  if (const char* why = reason_never_common()) return refuse(why);
  CommonHold tried;
  if (const char* why = open_file(tried)) return refuse(why);
  close_own_descriptor(tried.file);
  if (!map_closed(common_state.hold)) return refuse(kNoSpace);
  common_state.is_awaited.store(true, std::memory_order_release);
  return true;
}

bool is_common_awaited() noexcept {
  return common_state.is_awaited.load(std::memory_order_acquire);
}

const char* reason_not_common() noexcept {
  return refusal.load(std::memory_order_relaxed);
}

bool leave_common() noexcept {
  const CommonPhase phase = common_state.phase;
  if (phase == CommonPhase::None || (phase == CommonPhase::Left && !common_state.may_have_missed_some))
    return true;
  BlockedSignals blocked;
  Locked locked(common_state.maps_lock);
  return make_all_private();
}

void forked_from_common() noexcept {
  common_state.maps_lock.unlock();
  common_state.calls_under_way = 0;
}

bool end_common() noexcept {
  if (common_state.phase == CommonPhase::None) {
    if (common_state.is_awaited.exchange(false)) unmap_closed(common_state.hold);
    return true;
  }
  if (!leave_common()) return false;
  BlockedSignals blocked;
  Locked locked(common_state.maps_lock);
  if (!has_one_thread()) return true;
  CommonHold& hold = common_state.hold;
  const bool has_its_file = has_file(hold);
  if (!move_mappings_back(has_its_file ? hold.file : -1)) return false;
  let_go_of(hold);
  if (has_its_file) close_own_descriptor(hold.file);
  common_state.phase = CommonPhase::None;
  hold = CommonHold{};
  return true;
}

bool has_left_common() noexcept {
  return common_state.phase.load(std::memory_order_acquire) == CommonPhase::Left;
}

bool is_common(const void* address) noexcept {
  const auto at = reinterpret_cast<uint64_t>(address);
  if (common_state.phase.load(std::memory_order_acquire) != CommonPhase::Common) return false;
  return common_state.hold.common.has(at);
}

bool is_reserved(const void* address, size_t bytes) noexcept {
  const auto at = reinterpret_cast<uint64_t>(address);
  return common_state.phase.load(std::memory_order_acquire) == CommonPhase::Common && bytes > 0 &&
         common_state.hold.reserves(at) && bytes <= common_state.hold.reservation_high - at;
}

int common_memory_file() noexcept {
  return common_state.phase.load(std::memory_order_acquire) == CommonPhase::Common ? common_state.hold.file
                                                                                   : -1;
}

bool has_common_file() noexcept {
  return has_file(common_state.hold);
}

bool empty_file_pages(uint64_t low, uint64_t high) noexcept {
  return has_common_file() &&
         raw_syscall(SYS_fallocate, common_state.hold.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<long>(low), static_cast<long>(high - low)) == 0;
}

}  // namespace hpcrun
