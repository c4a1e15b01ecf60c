#include "hpcrun/sample/run_queue.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {
namespace {

struct SchedStat {
  uint64_t on_processor_ns, in_run_queue_ns, turns;
};

// Reads a schedstat file (Documentation/scheduler/sched-stats.rst). A kernel without this accounting
// (CONFIG_SCHED_INFO) shows zeros.
bool read_schedstat(int descriptor, SchedStat& stat) noexcept {
  char text[3 * 20 + 3];  // digits of the largest numbers
  const long bytes =
      raw_syscall(SYS_pread64, descriptor, reinterpret_cast<long>(text), static_cast<long>(sizeof text), 0);
  if (bytes <= 0) return false;
  const char* at = text;
  const char* const end = text + bytes;
  for (uint64_t* number : {&stat.on_processor_ns, &stat.in_run_queue_ns, &stat.turns}) {
    const auto [next, error] = std::from_chars(at, end, *number);
    if (error != std::errc{} || next == end) return false;
    at = next + 1;
  }
  return stat.turns > 0;
}

int open_schedstat(int tid) noexcept {
  char path[64] = "/proc/self/task/";
  constexpr char kName[] = "/schedstat";
  char* const digits = path + sizeof "/proc/self/task/" - 1;
  char* const end = std::to_chars(digits, std::end(path) - sizeof kName, tid).ptr;
  std::copy(std::begin(kName), std::end(kName), end);
  return static_cast<int>(
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC));
}

}  // namespace

uint64_t run_queue_ns(int tid) noexcept {
  const int opened = open_schedstat(tid);
  if (opened < 0) return 0;
  SchedStat stat;
  const bool is_known = read_schedstat(opened, stat);
  raw_syscall(SYS_close, opened);
  return is_known ? stat.in_run_queue_ns : 0;
}

bool RunQueueClock::open(int tid) noexcept {
  const int opened = open_schedstat(tid);
  if (opened < 0) return false;
  descriptor_ = adopt_spare_descriptor(opened);
  if (descriptor_ < 0) return false;
  SchedStat stat;
  if (read_schedstat(descriptor_, stat)) {
    ready_.start(stat.in_run_queue_ns);
    return true;
  }
  close();
  return false;
}

void RunQueueClock::close() noexcept {
  if (descriptor_ >= 0) close_own_descriptor(descriptor_);
  descriptor_ = -1;
}

uint64_t RunQueueClock::advance(uint64_t now) noexcept {
  // Taken before the system call, at whose end preemption is likely: after the sum has been read.
  const uint64_t read_at = monotonic_ns();
  SchedStat stat;
  if (descriptor_ < 0 || !read_schedstat(descriptor_, stat)) return 0;
  return ready_.advance(stat.in_run_queue_ns, now, read_at);
}

uint64_t RunQueueClock::total() const noexcept {
  SchedStat stat;
  return descriptor_ >= 0 && read_schedstat(descriptor_, stat) ? stat.in_run_queue_ns : 0;
}

bool is_run_queue_clock(int descriptor) noexcept {
  struct statfs file_system;
  return raw_syscall(SYS_fstatfs, descriptor, reinterpret_cast<long>(&file_system)) == 0 &&
         file_system.f_type == PROC_SUPER_MAGIC;
}

}  // namespace hpcrun
