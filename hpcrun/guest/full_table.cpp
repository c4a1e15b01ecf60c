#include "hpcrun/guest/full_table.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdint>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

struct Task {
  long (*use)(void* argument);
  void* argument;
  long result;
};

// Runs in the new process, below the frames of the waiting thread.
[[noreturn, gnu::noinline]] void run(Task& task) noexcept {
  int programs = 0;
  while (is_own_descriptor(programs)) ++programs;
  raw_syscall(SYS_close, programs);
  task.result = task.use(task.argument);
  for (;;) raw_syscall(SYS_exit, 0);
}

// Like vfork(): the call returns twice on one stack, so only its result is used afterwards.
[[gnu::noinline]] long run_in_process(Task& task) noexcept {
  const long process = raw_syscall(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0);
  if (process == 0) run(task);
  return process;
}

}  // namespace

long call_with_spare_descriptor(long (*use)(void* argument), void* argument) noexcept {
  constexpr int kOfAnyKind = 0x40000000;  // __WALL: the process ends without a signal
  const uint64_t all = ~uint64_t{0};
  uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), reinterpret_cast<long>(&before),
              sizeof all);
  Task task{use, argument, -EMFILE};
  const long process = run_in_process(task);
  if (process < 0)
    task.result = process;
  else
    while (raw_syscall(SYS_wait4, process, 0, kOfAnyKind, 0) == -EINTR) continue;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, sizeof before);
  return task.result;
}

}  // namespace hpcrun
