// The C library's signal functions as the program calls them, translated to the virtual view of owned signals
// (virtual_signals.h). Each keeps the contract of the function it replaces, async-signal-safety included.

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include <cstring>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/process/next.h"
#include "hpcrun/process/threads.h"
#include "hpcrun/process/virtual_signals.h"
#include "hpcrun/sample/handler.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(sigaction);
HPCRUN_NEXT_OF(pthread_sigmask);
HPCRUN_NEXT_OF(sigtimedwait);
HPCRUN_NEXT_OF(sigpending);
HPCRUN_NEXT_OF(sigsuspend);
HPCRUN_NEXT_OF(signalfd);
HPCRUN_NEXT_OF(ppoll);
HPCRUN_NEXT_OF(pselect);
HPCRUN_NEXT_OF(epoll_pwait);

namespace {

bool is_owned(int signal) noexcept {
  return signal >= 1 && signal <= 64 && (owned_signals() & mask_of(signal));
}

sigset_t without_held(const sigset_t& set) noexcept {
  sigset_t kernel = set;
  SignalMask bits = to_bits(set) & ~held_signals();
  memcpy(&kernel, &bits, sizeof bits);
  return kernel;
}

void add_bits(sigset_t& set, SignalMask more) noexcept {
  const SignalMask bits = to_bits(set) | more;
  memcpy(&set, &bits, sizeof bits);
}

int change_mask(int how, const sigset_t* set, sigset_t* old) noexcept {
  const SignalMask blocked = virtual_blocked();
  const SignalMask asked = set ? to_bits(*set) & held_signals() : 0;  // now: *old may be the same
  sigset_t kernel;
  if (set) kernel = without_held(*set);
  const int error = HPCRUN_NEXT(pthread_sigmask)(how, set ? &kernel : nullptr, old);
  if (error) return error;
  if (set) {
    set_virtual_blocked(how == SIG_BLOCK ? blocked | asked : how == SIG_UNBLOCK ? blocked & ~asked : asked);
  }
  if (old) add_bits(*old, blocked);
  return 0;
}

// Runs a call that waits under another mask. The virtual mask is swapped around it; a virtually pending
// signal that the new mask lets through interrupts the call at once.
template <typename Call>
int wait_with_mask(const sigset_t* mask, Call call) noexcept {
  if (!mask) return call(nullptr);
  const SignalMask before = virtual_blocked();
  const sigset_t kernel = without_held(*mask);
  int result = -1;
  int error = EINTR;
  if (!set_virtual_blocked(to_bits(*mask))) {
    result = call(&kernel);
    error = errno;
  }
  set_virtual_blocked(before);
  errno = error;
  return result;
}

timespec remaining(const timespec& end) noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  timespec left{end.tv_sec - now.tv_sec, end.tv_nsec - now.tv_nsec};
  if (left.tv_nsec < 0) {
    left.tv_nsec += 1'000'000'000;
    --left.tv_sec;
  }
  if (left.tv_sec < 0) left = timespec{};
  return left;
}

bool is_sample(const siginfo_t& info) noexcept {
  return (info.si_signo == SIGTRAP && info.si_code == kTrapPerf) || info.si_code == SI_TIMER ||
         info.si_code == POLL_IN;
}

// Waits for a signal of the set; a sample of ours that the wait caught is dropped and the wait goes on.
int wait_for_signal(const sigset_t* set, siginfo_t* info, const timespec* timeout) noexcept {
  const SignalMask owned_waited = to_bits(*set) & held_signals();
  if (!owned_waited) return HPCRUN_NEXT(sigtimedwait)(set, info, timeout);
  timespec end{};
  if (timeout) {
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += timeout->tv_sec + (end.tv_nsec + timeout->tv_nsec) / 1'000'000'000;
    end.tv_nsec = (end.tv_nsec + timeout->tv_nsec) % 1'000'000'000;
  }
  siginfo_t found{};
  VirtualWait wait(owned_waited);
  int signal = wait.take_pending(found);
  while (!signal) {
    const timespec left = timeout ? remaining(end) : timespec{};
    signal = HPCRUN_NEXT(sigtimedwait)(set, &found, timeout ? &left : nullptr);
    if (signal > 0 && is_owned(signal) && is_sample(found)) signal = 0;
  }
  VirtualWait::unwrap(found);
  if (signal > 0 && info) *info = found;
  return signal;
}

}  // namespace

HPCRUN_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  if (!is_owned(signal)) {
    // While a handler runs, signals of ours in its mask would only be delayed; but a thread that never leaves
    // the handler would not be sampled any more.
    if (!action) return HPCRUN_NEXT(sigaction)(signal, action, old);
    struct sigaction kernel = *action;
    kernel.sa_mask = without_held(action->sa_mask);
    return HPCRUN_NEXT(sigaction)(signal, &kernel, old);
  }
  const struct sigaction before = virtual_action(signal);
  if (action) set_virtual_action(signal, *action);
  if (old) *old = before;
  return 0;
}

HPCRUN_EXPORT int __sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return sigaction(signal, action, old);
}

HPCRUN_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return change_mask(how, set, old);
}

HPCRUN_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  const int error = change_mask(how, set, old);
  if (!error) return 0;
  errno = error;
  return -1;
}

HPCRUN_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  return wait_for_signal(set, info, timeout);
}

HPCRUN_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  return wait_for_signal(set, info, nullptr);
}

HPCRUN_EXPORT int sigwait(const sigset_t* set, int* found) {
  for (;;) {
    const int signal = wait_for_signal(set, nullptr, nullptr);
    if (signal > 0) {
      *found = signal;
      return 0;
    }
    if (errno != EINTR) return errno;
  }
}

HPCRUN_EXPORT int sigpending(sigset_t* set) noexcept {
  if (HPCRUN_NEXT(sigpending)(set) != 0) return -1;
  *set = without_held(*set);
  add_bits(*set, virtual_pending());
  return 0;
}

// A signalfd reads what is blocked in the kernel: a signal that the program wants to read cannot stay ours.
HPCRUN_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  if (to_bits(*set) & held_signals() & mask_of(SIGTRAP)) {
    stop_using_sigtrap();
    release_signal(SIGTRAP);
  }
  return HPCRUN_NEXT(signalfd)(descriptor, set, flags);
}

HPCRUN_EXPORT int sigsuspend(const sigset_t* set) {
  return wait_with_mask(set, [](const sigset_t* kernel) { return HPCRUN_NEXT(sigsuspend)(kernel); });
}

HPCRUN_EXPORT int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return wait_with_mask(
      mask, [=](const sigset_t* kernel) { return HPCRUN_NEXT(ppoll)(descriptors, count, timeout, kernel); });
}

HPCRUN_EXPORT int pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* timeout,
                          const sigset_t* mask) {
  return wait_with_mask(mask, [=](const sigset_t* kernel) {
    return HPCRUN_NEXT(pselect)(count, read, write, except, timeout, kernel);
  });
}

HPCRUN_EXPORT int epoll_pwait(int descriptor, epoll_event* events, int most, int timeout,
                              const sigset_t* mask) {
  return wait_with_mask(mask, [=](const sigset_t* kernel) {
    return HPCRUN_NEXT(epoll_pwait)(descriptor, events, most, timeout, kernel);
  });
}
