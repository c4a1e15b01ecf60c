// Calls with which a program forbids itself what the runtime does: seccomp's modes, and reading the time
// stamp counter. Includes calls through syscall(), which hpcrun_before_syscall (raw_wait_calls.cpp) passes
// on.

#include "hpcrun/process/restriction_calls.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/outside_request.h"
#include "hpcrun/process/seccomp_filter.h"
#include "hpcrun/process/start.h"
#include "hpcrun/process/threads.h"
#include "hpcrun/sample/state.h"

using namespace hpcrun;

namespace {

// Calls use(filter, count) with a copy of the program's filter, unless the kernel would refuse it.
template <typename Use>
void copied_filter(uint64_t at, Use use) noexcept {
  sock_fprog header;
  if (!safe_read(at, &header, sizeof header) || header.len == 0 || header.len > BPF_MAXINSNS) return;
  const size_t bytes = header.len * sizeof(sock_filter);
  void* const copy = sys_mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return;
  if (safe_read(reinterpret_cast<uint64_t>(header.filter), copy, bytes))
    use(static_cast<const sock_filter*>(copy), header.len);
  sys_munmap(copy, bytes);
}

void before_strict_mode() noexcept {
  finish_before("the program entered seccomp's strict mode, which forbids the runtime's system calls");
}

void before_filter(uint64_t filter) noexcept {
  copied_filter(filter, [](const sock_filter* steps, size_t count) {
    if (bears_measuring(steps, count)) return;
    leave_programs_alone();
    finish_before(
        "the program installed a seccomp filter that answers the runtime's system calls with a signal or by "
        "ending the process");
  });
}

}  // namespace

void hpcrun::before_restriction(long number, long a, long b, long c) noexcept {
  if (number == SYS_prctl && a == PR_SET_TSC && b == PR_TSC_SIGSEGV) return stop_using_vdso_clock();
  const bool by_prctl = number == SYS_prctl && a == PR_SET_SECCOMP;
  if (!by_prctl && number != SYS_seccomp) return;
  stop_waiting_for_first_sample();
  if (by_prctl ? b == SECCOMP_MODE_STRICT : a == SECCOMP_SET_MODE_STRICT) return before_strict_mode();
  if (by_prctl ? b == SECCOMP_MODE_FILTER : a == SECCOMP_SET_MODE_FILTER)
    before_filter(static_cast<uint64_t>(c));
}

bool hpcrun::gives_up_rights(long number) noexcept {
  switch (number) {
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setfsuid:
    case SYS_setfsgid:
    case SYS_setgroups:
    case SYS_capset:
    case SYS_chroot:
    case SYS_pivot_root:
    case SYS_unshare:
    case SYS_setns:
      return true;
    default:
      return false;
  }
}

HPCRUN_NEXT_OF_TYPE(prctl, int(int, unsigned long, unsigned long, unsigned long, unsigned long));

// All its arguments have the size of a pointer. Those that were not passed are not read.
HPCRUN_EXPORT int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  before_restriction(SYS_prctl, option, static_cast<long>(arguments[0]), static_cast<long>(arguments[1]));
  const int result = HPCRUN_NEXT(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (option == PR_SET_NAME && result == 0)
    note_name(pthread_self(), reinterpret_cast<const char*>(arguments[0]));
  return result;
}
