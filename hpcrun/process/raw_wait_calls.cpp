// Functions with untyped arguments: syscall() and ioctl(). System calls that a sample would make return early
// are made uninterrupted (see wait_calls.cpp). Calls that send signals to threads are handled as in
// send_calls.cpp, and calls that forbid the runtime its own as in restriction_calls.cpp. Masks in their
// arguments are the kernel's.

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "hpcrun/guest/chosen_entry.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/exec_calls.h"
#include "hpcrun/process/restriction_calls.h"
#include "hpcrun/signals/send_calls.h"
#include "hpcrun/signals/wait_calls.h"

using namespace hpcrun;

namespace {

using Ioctl = int(int, unsigned long, void*);

HPCRUN_NEXT_OF_TYPE(syscall, SystemCallFunction);
HPCRUN_NEXT_OF_TYPE(ioctl, Ioctl);

bool waits(long number) noexcept {
  switch (number) {
    case SYS_futex:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_pause:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_vmsplice:
    case SYS_copy_file_range:
    case SYS_getrandom:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_ioctl:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_io_uring_enter:
      return true;
    default:
      return false;
  }
}

// The kernel restarts a futex wait without a timeout transparently. Such waits are sampled, as those of
// mutexes are.
bool is_restarted(long number, long operation, long timeout) noexcept {
  const long command = operation & FUTEX_CMD_MASK;
  const bool may_wait = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  return number == SYS_futex && !(may_wait && timeout);
}

long call_uninterrupted(long number, long a, long b, long c, long d, long e, long f) {
  return HPCRUN_CALL_UNINTERRUPTED(syscall, number, a, b, c, d, e, f);
}

long execute_program(long number, long a, long b, long c, long d, long e, long) noexcept {
  const auto path = [](long at) { return reinterpret_cast<const char*>(at); };
  const auto list = [](long at) { return reinterpret_cast<char* const*>(at); };
  if (number == SYS_execve) return execute(path(a), list(b), list(c));
  return execute_at(static_cast<int>(a), path(b), list(c), list(d), static_cast<int>(e));
}

}  // namespace

// Returns the function that answers syscall(). Called by the entry below, with its arguments.
extern "C" __attribute__((used)) SystemCallFunction* hpcrun_before_syscall(long number, long a, long b,
                                                                           long c, long d) noexcept {
  if (number == SYS_prctl || number == SYS_seccomp) [[unlikely]]
    before_restriction(number, a, b, c);
  if (process_state.first_period.is_waiting.load(std::memory_order_relaxed) && gives_up_rights(number))
    stop_waiting_for_first_sample();
  if (process_state.protects_waits && waits(number) && !is_restarted(number, b, d)) return call_uninterrupted;
  if (number == SYS_execve || number == SYS_execveat) return execute_program;
  SystemCallFunction* const send = sends_to_thread(number, b, c);
  return send ? send : HPCRUN_NEXT(syscall);
}

// No frame of the runtime is below a system call that returns twice or on another stack (fork, clone).
HPCRUN_CHOSEN_ENTRY(syscall, hpcrun_before_syscall);

// The third argument, if there is one, has the size of a pointer.
extern "C" __attribute__((visibility("default"))) int hpcrun_ioctl(int, unsigned long, void*) asm("ioctl");
int hpcrun_ioctl(int descriptor, unsigned long request, void* argument) {
  return HPCRUN_CALL_UNINTERRUPTED(ioctl, descriptor, request, argument);
}

// libaio's function, which no header of the C library declares: returns 0 or more events, or a negated errno.
// Its system call finds available events as well as libaio itself does.
HPCRUN_EXPORT int io_getevents(void* context, long least, long most, void* events, void* timeout) {
  const int error_before = errno;
  const long result = call_uninterrupted(SYS_io_getevents, reinterpret_cast<long>(context), least, most,
                                         reinterpret_cast<long>(events), reinterpret_cast<long>(timeout), 0);
  const int error = errno;
  errno = error_before;
  return static_cast<int>(result < 0 ? -error : result);
}
