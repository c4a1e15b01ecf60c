#include "repair/isolate/memory/rekey_futex_waiters.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/contract/pages.h"
#include "repair/isolate/session/tasks.h"

namespace hpcrun {

namespace {

bool sleeps_by_shared_key(const TaskCall& call) noexcept {
  if (call.number != SYS_futex) return false;
  const auto operation = static_cast<uint32_t>(call.arguments[1]);
  const uint32_t command = operation & FUTEX_CMD_MASK;
  return !(operation & FUTEX_PRIVATE_FLAG) && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

void wake_all_at(uint64_t address, int file) noexcept {
  const uint64_t page = page_down(address);
  void* const shared =
      sys_mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<int64_t>(page));
  if (shared == MAP_FAILED) return;
  raw_syscall(SYS_futex, reinterpret_cast<long>(shared) + static_cast<long>(address - page), FUTEX_WAKE,
              INT_MAX);
  sys_munmap(shared, kPageBytes);
}

}  // namespace

void rekey_futex_waiters(int file) noexcept {
  const int self = sys_gettid();
  const auto look = [&] {
    for_each_task([&](int tid) {
      TaskCall call;
      if (tid != self && read_call_of(tid, call) && sleeps_by_shared_key(call))
        wake_all_at(call.arguments[0], file);
    });
  };
  if (count_tasks() == 1) return;
  look();
  // A thread that was entering the kernel with the old key sleeps by now.
  const timespec moment{0, 50'000};
  raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&moment), 0);
  look();
}

}  // namespace hpcrun
