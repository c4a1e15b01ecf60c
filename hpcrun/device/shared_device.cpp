#include "hpcrun/device/shared_device.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

struct SharedDevice::File {
  std::atomic<uint64_t> version;
  std::atomic<uint64_t> changes;  // number of processes that joined or left
  Slot slots[kSlots];
};

namespace {

constexpr uint64_t kVersion = 0x70726f6600000002;  // "prof", 2

// Another process holds the file for microseconds, unless it is stopped.
constexpr int kMaxTries = 100;

// Opens and locks the file. The last process that leaves removes it; the next one creates another.
class HeldFile {
 public:
  explicit HeldFile(const char* path) noexcept {
    for (int i = 0; i < kMaxTries; ++i) {
      descriptor_ = static_cast<int>(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                                                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
      if (descriptor_ < 0) return;
      if (lock() && is_named(path)) return;
      release();
    }
  }
  ~HeldFile() { release(); }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }

 private:
  bool lock() noexcept {
    for (int i = 0; i < kMaxTries; ++i) {
      if (raw_syscall(SYS_flock, descriptor_, LOCK_EX | LOCK_NB) == 0) return true;
      const timespec pause{0, 100'000};
      raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&pause), 0);
    }
    return false;
  }
  // True if the file is ours, and was not removed before we locked it.
  bool is_named(const char* path) const noexcept {
    struct stat ours, named;
    return fstat(descriptor_, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino &&
           ours.st_dev == named.st_dev && ours.st_uid == geteuid();
  }
  void release() noexcept {
    if (descriptor_ < 0) return;
    raw_syscall(SYS_flock, descriptor_, LOCK_UN);  // a mapping would keep the lock
    raw_syscall(SYS_close, descriptor_);
    descriptor_ = -1;
  }

  int descriptor_ = -1;
};

// Returns the process's start in ticks since the machine started; 0: there is no such process.
uint64_t start_time(int pid) noexcept {
  char path[64];
  char text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const long length = raw_syscall(SYS_read, file, reinterpret_cast<long>(text), sizeof text - 1);
  raw_syscall(SYS_close, file);
  text[length > 0 ? length : 0] = '\0';
  const char* at = std::strrchr(text, ')');  // the name before it may contain anything
  constexpr int kFieldsBetween = 20;         // proc(5): the name is field 2, the start time is field 22
  for (int i = 0; at && i < kFieldsBetween; ++i) at = std::strchr(at + 1, ' ');
  return at ? std::strtoull(at + 1, nullptr, 10) : 0;
}

uint64_t make_owner(int pid, uint64_t started) noexcept {
  return static_cast<uint64_t>(static_cast<uint32_t>(pid)) << 32 | static_cast<uint32_t>(started);
}

uint64_t pid_namespace() noexcept {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// True if the process is dead. A process that is not visible from here counts as alive.
bool is_dead(uint64_t owner) noexcept {
  const int pid = static_cast<int>(owner >> 32);
  if (raw_syscall(SYS_kill, pid, 0) == -ESRCH) return true;
  const uint64_t started = start_time(pid);
  return started && static_cast<uint32_t>(started) != static_cast<uint32_t>(owner);
}

bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.';
}

}  // namespace

void SharedDevice::Ring::push(Interval interval) noexcept {
  const uint64_t at = count.load(std::memory_order_relaxed);
  begins[at % kKept].store(interval.begin, std::memory_order_relaxed);
  ends[at % kKept].store(interval.end, std::memory_order_relaxed);
  count.store(at + 1, std::memory_order_release);
}

SharedDevice::Slot& SharedDevice::slot(uint32_t i) noexcept {
  return file_->slots[i];
}

bool SharedDevice::is_others(uint32_t i) noexcept {
  return file_ && i != own_ && slot(i).owner.load(std::memory_order_acquire) != 0;
}

// Must be called with the file held.
void SharedDevice::reap() noexcept {
  const uint64_t names = pid_namespace();
  for (uint32_t i = 0; i < kSlots; ++i) {
    const uint64_t owner = slot(i).owner.load(std::memory_order_acquire);
    // A slot with our own identity belongs to the program that executed this one.
    if (owner && slot(i).names.load() == names && (owner == owner_ || is_dead(owner))) slot(i).owner.store(0);
  }
}

bool SharedDevice::claim() noexcept {
  for (own_ = 0; own_ < kSlots; ++own_) {
    Slot& free = slot(own_);
    if (free.owner.load() != 0) continue;
    free.works_since[0].store(0);
    for (std::atomic<uint64_t>& since : free.waits_since) since.store(0);
    free.work.count.store(0);
    free.waits.count.store(0);
    free.names.store(pid_namespace());
    free.owner.store(owner_, std::memory_order_release);
    file_->changes.fetch_add(1, std::memory_order_release);
    return true;
  }
  return false;
}

bool SharedDevice::join(const char* uuid) noexcept {
  int length = snprintf(path_, sizeof path_, "%s%u-", kSharedDeviceFiles, geteuid());
  for (const char* from = uuid; *from && length + 1 < static_cast<int>(sizeof path_); ++from)
    path_[length++] = is_plain(*from) ? *from : '_';
  path_[length] = '\0';
  const HeldFile held(path_);
  if (held.descriptor() < 0 || raw_syscall(SYS_ftruncate, held.descriptor(), sizeof(File)) < 0) return false;
  void* const mapped =
      sys_mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, held.descriptor(), 0);
  if (mapped == MAP_FAILED) return false;
  sys_madvise(mapped, sizeof(File), MADV_DONTFORK);
  file_ = static_cast<File*>(mapped);
  const int pid = sys_getpid();
  owner_ = make_owner(pid, start_time(pid));
  uint64_t version = 0;
  file_->version.compare_exchange_strong(version, kVersion);
  if (version == 0 || version == kVersion) {
    reap();
    if (claim()) return true;
  }
  sys_munmap(mapped, sizeof(File));
  reset();
  return false;
}

void SharedDevice::leave() noexcept {
  if (!joined()) return;
  const HeldFile held(path_);
  slot(own_).owner.store(0, std::memory_order_release);
  file_->changes.fetch_add(1, std::memory_order_release);
  if (held.descriptor() >= 0) {
    reap();
    bool is_last = true;
    for (uint32_t i = 0; i < kSlots; ++i) is_last = is_last && !slot(i).owner.load();
    if (is_last) raw_syscall(SYS_unlinkat, AT_FDCWD, reinterpret_cast<long>(path_), 0);
  }
  sys_munmap(file_, sizeof(File));
  reset();
}

void SharedDevice::begin_work(uint64_t since) noexcept {
  if (joined()) slot(own_).works_since[0].store(since, std::memory_order_release);
}

// Records the ended interval before it clears the open one: readers then see it twice, rather than never.
void SharedDevice::end_work(uint64_t until) noexcept {
  if (!joined()) return;
  std::atomic<uint64_t>& since = slot(own_).works_since[0];
  if (const uint64_t begin = since.load(); begin && begin < until) slot(own_).work.push({begin, until});
  since.store(0, std::memory_order_release);
}

uint32_t SharedDevice::begin_wait(uint64_t since, bool may_work) noexcept {
  if (!joined()) return kNoPlace;
  since = (since & ~kMayWork) | (may_work ? kMayWork : 0);
  for (uint32_t i = 0; i < kOpenWaits; ++i) {
    uint64_t free = 0;
    if (slot(own_).waits_since[i].compare_exchange_strong(free, since)) return i;
  }
  return kNoPlace;
}

void SharedDevice::end_wait(uint32_t place, Interval wait) noexcept {
  if (!joined()) return;
  if (wait.begin < wait.end) slot(own_).waits.push(wait);
  if (place < kOpenWaits) slot(own_).waits_since[place].store(0, std::memory_order_release);
}

bool SharedDevice::changed() noexcept {
  if (!joined()) return false;
  const uint64_t changes = file_->changes.load(std::memory_order_acquire);
  return std::exchange(seen_changes_, changes) != changes;
}

uint32_t SharedDevice::others() noexcept {
  if (!joined()) return 0;
  const uint64_t names = pid_namespace();
  uint32_t count = 0;
  for (uint32_t i = 0; i < kSlots; ++i) {
    if (!is_others(i)) continue;
    uint64_t owner = slot(i).owner.load();
    if (slot(i).names.load() == names && is_dead(owner))
      slot(i).owner.compare_exchange_strong(owner, 0);
    else
      ++count;
  }
  return count;
}

}  // namespace hpcrun
