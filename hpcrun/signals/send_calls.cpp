// Functions that send signals to a thread of the program. The kernel keeps one standard signal of a number
// per thread, and would drop the program's while a sample of ours is pending there. Therefore the signal is
// sent through the virtual view of owned signals (virtual_signals.h). All are async-signal-safe.

#include "hpcrun/signals/send_calls.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/signals/virtual_signals.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_kill);
HPCRUN_NEXT_OF(pthread_sigqueue);
HPCRUN_NEXT_OF(raise);
HPCRUN_NEXT_OF(tgkill);
HPCRUN_NEXT_OF_TYPE(syscall, SystemCallFunction);

namespace {

siginfo_t info_of(int signal, int code) noexcept {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = code;
  info.si_pid = sys_getpid();
  info.si_uid = static_cast<uid_t>(raw_syscall(SYS_getuid));
  return info;
}

// Returns the thread's number, computed from that of its CPU clock (clock_getcpuclockid(3)), which the C
// library returns without a lock. 0 for a thread that has ended.
int tid_of(pthread_t thread) noexcept {
  clockid_t clock = 0;
  if (pthread_getcpuclockid(thread, &clock) != 0) return 0;
  return ~(clock >> 3);
}

bool send_to(int tid, int signal) noexcept {
  return tid > 0 && send_virtually(info_of(signal, SI_TKILL), tid);
}

// Returns false for data that the kernel refuses for another thread, so that the kernel reports the error.
bool queue_to(int tid, int signal, long user_info) noexcept {
  siginfo_t info;
  if (tid <= 0 || !safe_read(static_cast<uint64_t>(user_info), &info, sizeof info)) return false;
  if ((info.si_code >= 0 || info.si_code == SI_TKILL) && tid != sys_gettid()) return false;
  info.si_signo = signal;
  return send_virtually(info, tid);
}

long answer(long number, long a, long b, long c, long d, long e, long f) noexcept {
  const bool is_here = number == SYS_tkill || a == sys_getpid();
  const auto tid = static_cast<int>(number == SYS_tkill ? a : b);
  const auto signal = static_cast<int>(number == SYS_tkill ? b : c);
  const bool is_sent =
      is_here && (number == SYS_rt_tgsigqueueinfo ? queue_to(tid, signal, d) : send_to(tid, signal));
  return is_sent ? 0 : HPCRUN_NEXT(syscall)(number, a, b, c, d, e, f);
}

}  // namespace

SystemCallFunction* hpcrun::sends_to_thread(long number, long b, long c) noexcept {
  switch (number) {
    case SYS_tkill:
      return may_lose(static_cast<int>(b)) ? answer : nullptr;
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo:
      return may_lose(static_cast<int>(c)) ? answer : nullptr;
    default:
      return nullptr;
  }
}

HPCRUN_EXPORT int pthread_kill(pthread_t thread, int signal) noexcept {
  if (may_lose(signal) && send_to(tid_of(thread), signal)) return 0;
  return HPCRUN_NEXT(pthread_kill)(thread, signal);
}

HPCRUN_EXPORT int pthread_sigqueue(pthread_t thread, int signal, const sigval value) noexcept {
  if (may_lose(signal)) {
    siginfo_t info = info_of(signal, SI_QUEUE);
    info.si_value = value;
    const int tid = tid_of(thread);
    if (tid > 0 && send_virtually(info, tid)) return 0;
  }
  return HPCRUN_NEXT(pthread_sigqueue)(thread, signal, value);
}

HPCRUN_EXPORT int raise(int signal) noexcept {
  if (may_lose(signal) && send_to(sys_gettid(), signal)) return 0;
  return HPCRUN_NEXT(raise)(signal);
}

HPCRUN_EXPORT int gsignal(int signal) noexcept {
  return raise(signal);
}

HPCRUN_EXPORT int tgkill(pid_t process, pid_t tid, int signal) noexcept {
  if (may_lose(signal) && process == sys_getpid() && send_to(tid, signal)) return 0;
  return HPCRUN_NEXT(tgkill)(process, tid, signal);
}
