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

// What ppoll() is in programs compiled with _FORTIFY_SOURCE; its header hides it from others.
extern "C" int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);

HPCRUN_NEXT_OF(sigaction);
HPCRUN_NEXT_OF(pthread_sigmask);
HPCRUN_NEXT_OF(sigtimedwait);
HPCRUN_NEXT_OF(sigpending);
HPCRUN_NEXT_OF(sigsuspend);
HPCRUN_NEXT_OF(signalfd);
HPCRUN_NEXT_OF(ppoll);
HPCRUN_NEXT_OF(pselect);
HPCRUN_NEXT_OF(epoll_pwait);
HPCRUN_NEXT_OF(epoll_pwait2);
HPCRUN_NEXT_OF(__ppoll_chk);

namespace {

bool is_owned(int signal) noexcept {
  return signal >= 1 && signal <= 64 && (owned_signals() & mask_of(signal));
}

sigset_t without_held(const sigset_t& set) noexcept {
  sigset_t kernel = set;
  set_bits(kernel, to_bits(set) & ~held_signals());
  return kernel;
}

int change_mask(int how, const sigset_t* set, sigset_t* old) noexcept {
  if (in_unmeasured_child()) return HPCRUN_NEXT(pthread_sigmask)(how, set, old);
  const SignalMask blocked = virtual_blocked();
  const SignalMask asked = set ? to_bits(*set) & held_signals() : 0;  // now: *old may be the same
  sigset_t kernel;
  if (set) kernel = without_held(*set);
  const int error = HPCRUN_NEXT(pthread_sigmask)(how, set ? &kernel : nullptr, old);
  if (error) return error;
  if (set)
    set_virtual_blocked(how == SIG_BLOCK ? blocked | asked : how == SIG_UNBLOCK ? blocked & ~asked : asked);
  if (old) set_bits(*old, to_bits(*old) | blocked);
  return 0;
}

// Runs a call under a guard that also ends when the thread is cancelled in the call: without exceptions no
// destructor would run.
template <typename Guard, typename Call>
int guarded(Guard& guard, Call call) noexcept {
  int result = -1;
  int error = 0;
  pthread_cleanup_push([](void* raw) { static_cast<Guard*>(raw)->end(); }, &guard);
  result = call();
  error = errno;
  pthread_cleanup_pop(1);
  errno = error;
  return result;
}

// Runs a call that waits under another mask. The kernel lets held signals in as the call begins to wait, so
// that none is handled before that and then waited for in vain.
template <typename Call>
int wait_with_mask(const sigset_t* mask, Call call) noexcept {
  if (!mask || !owned_signals() || in_unmeasured_child()) return call(mask);
  const sigset_t kernel = without_held(*mask);
  VirtualMask exchanged(to_bits(*mask));
  return guarded(exchanged, [&] { return call(&kernel); });
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

timespec end_of(const timespec& timeout) noexcept {
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += timeout.tv_sec + (end.tv_nsec + timeout.tv_nsec) / 1'000'000'000;
  end.tv_nsec = (end.tv_nsec + timeout.tv_nsec) % 1'000'000'000;
  return end;
}

// Waits for a signal of the set; a sample of ours that the wait caught is dropped and the wait goes on.
int wait_for_signal(const sigset_t* set, siginfo_t* info, const timespec* timeout) noexcept {
  const SignalMask held_waited = to_bits(*set) & held_signals();
  if (!held_waited || in_unmeasured_child()) return HPCRUN_NEXT(sigtimedwait)(set, info, timeout);
  const timespec end = timeout ? end_of(*timeout) : timespec{};
  siginfo_t found{};
  VirtualWait wait(held_waited);
  const int signal = guarded(wait, [&] {
    for (;;) {
      if (const int pending = wait.take(found)) return pending;
      const timespec left = timeout ? remaining(end) : timespec{};
      const int next = HPCRUN_NEXT(sigtimedwait)(set, &found, timeout ? &left : nullptr);
      if (next < 0 || !(is_our_sample(next, found) || is_wake_up(found))) return next;
    }
  });
  if (signal > 0 && info) *info = found;
  return signal;
}

// The samples go on by other signals.
void give_up_signals(SignalMask wanted) noexcept {
  const SignalMask timer = mask_of(process_state.timer_signal);
  const bool gives_up_timer = wanted & timer;
  const bool gives_up_sigtrap = wanted & mask_of(SIGTRAP);
  if (gives_up_timer || (gives_up_sigtrap && !(owned_signals() & timer))) {
    const int unused = unused_realtime_signal();
    own_signals(mask_of(unused));
    use_timer_signal(unused);
  }
  if (gives_up_sigtrap) stop_using_sigtrap();
  for (SignalMask rest = wanted; rest; rest &= rest - 1) release_signal(__builtin_ctzll(rest) + 1);
}

}  // namespace

HPCRUN_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  if (in_unmeasured_child()) return HPCRUN_NEXT(sigaction)(signal, action, old);
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
  const int result = HPCRUN_NEXT(sigpending)(set);
  if (result == 0 && !in_unmeasured_child())
    set_bits(*set, (to_bits(*set) & ~held_signals()) | pending_here());
  return result;
}

// A signalfd reads what is blocked in the kernel: a signal that the program wants to read cannot stay ours.
HPCRUN_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  const SignalMask wanted = to_bits(*set) & held_signals();
  if (wanted && !in_unmeasured_child()) give_up_signals(wanted);
  return HPCRUN_NEXT(signalfd)(descriptor, set, flags);
}

HPCRUN_EXPORT int sigsuspend(const sigset_t* set) {
  return wait_with_mask(set, [](const sigset_t* kernel) { return HPCRUN_NEXT(sigsuspend)(kernel); });
}

HPCRUN_EXPORT int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return wait_with_mask(
      mask, [=](const sigset_t* kernel) { return HPCRUN_NEXT(ppoll)(descriptors, count, timeout, kernel); });
}

HPCRUN_EXPORT int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* timeout,
                              const sigset_t* mask, size_t bytes) {
  return wait_with_mask(mask, [=](const sigset_t* kernel) {
    return HPCRUN_NEXT(__ppoll_chk)(descriptors, count, timeout, kernel, bytes);
  });
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

HPCRUN_EXPORT int epoll_pwait2(int descriptor, epoll_event* events, int most, const timespec* timeout,
                               const sigset_t* mask) {
  return wait_with_mask(mask, [=](const sigset_t* kernel) {
    auto* next = HPCRUN_NEXT(epoll_pwait2);  // since glibc 2.35
    if (next) return next(descriptor, events, most, timeout, kernel);
    errno = ENOSYS;
    return -1;
  });
}
