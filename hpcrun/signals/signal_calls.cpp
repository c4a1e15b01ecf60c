// The C library's signal functions as the program calls them, translated to the virtual view of owned signals
// (virtual_signals.h). Each keeps the contract of the function it replaces, async-signal-safety included.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include <cstring>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/hooks.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/sources.h"
#include "hpcrun/sample/thread_sources.h"
#include "hpcrun/signals/virtual_signals.h"
#include "hpcrun/signals/wait_calls.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(sigaction);
HPCRUN_NEXT_OF(pthread_sigmask);
HPCRUN_NEXT_OF(sigtimedwait);
HPCRUN_NEXT_OF(sigwaitinfo);
HPCRUN_NEXT_OF(sigwait);
HPCRUN_NEXT_OF(sigpending);
HPCRUN_NEXT_OF(signalfd);

namespace {

bool is_owned(int signal) noexcept {
  return signal >= 1 && signal <= 64 && (owned_signals() & mask_of(signal));
}

// True if more than half of the real-time signals are in the set: the program has not selected some of them.
bool wants_all(SignalMask set) noexcept {
  return __builtin_popcountll(set >> 31) > 16;
}

void give_up_signals(SignalMask wanted, SignalMask avoided) noexcept;

// Gives up timer signals that the program uses, which it does if it blocks them or waits for them. It then
// gets them in the kernel, where their values queue, and the timers use another signal.
void give_up_timer_signals(SignalMask asked) noexcept {
  const SignalMask ours =
      source_signals() & ~mask_of(SIGTRAP) & mask_of(process_state.timer_signal) & held_signals();
  const SignalMask wanted = asked & (ours | wait_signals());
  if (wanted && !wants_all(asked)) give_up_signals(wanted, asked);
}

int change_mask(int how, const sigset_t* set, sigset_t* old) noexcept {
  if (in_unmeasured_child()) return HPCRUN_NEXT(pthread_sigmask)(how, set, old);
  if (set && how != SIG_UNBLOCK && (is_sampling_here() || waits_for_first_sample()))
    give_up_timer_signals(to_bits(*set));
  const SignalMask blocked = virtual_blocked();
  const SignalMask asked = set ? to_bits(*set) & held_signals() : 0;  // read now: *old may be the same
  sigset_t kernel;
  if (set) kernel = without_held(*set);
  const int error = HPCRUN_NEXT(pthread_sigmask)(how, set ? &kernel : nullptr, old);
  if (error) return error;
  if (set)
    set_virtual_blocked(how == SIG_BLOCK ? blocked | asked : how == SIG_UNBLOCK ? blocked & ~asked : asked);
  // In a handler that interrupted a waiting call, owned signals are blocked in the kernel.
  if (old) set_bits(*old, (to_bits(*old) & ~held_signals()) | blocked);
  return 0;
}

timespec remaining(const timespec& end) noexcept {
  timespec now{};
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
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
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&end));
  end.tv_sec += timeout.tv_sec + (end.tv_nsec + timeout.tv_nsec) / 1'000'000'000;
  end.tv_nsec = (end.tv_nsec + timeout.tv_nsec) % 1'000'000'000;
  return end;
}

// Returns a signal for timers that the program does not use, or 0.
int take_spare(SignalMask wanted) noexcept {
  const int spare = process_state.spare_signal;
  if (spare && !(wanted & mask_of(spare)) && virtual_action(spare).sa_handler == SIG_DFL) return spare;
  const int unused = unused_realtime_signal(wanted | mask_of(spare));
  own_signals(mask_of(unused));
  return unused;
}

void reserve_spare(SignalMask wanted) noexcept {
  if (!process_state.protects_waits) return;
  process_state.spare_signal = unused_realtime_signal(wanted);
  own_signals(mask_of(process_state.spare_signal));
}

// Sampling continues with signals that are not in `avoided`.
void give_up_signals(SignalMask wanted, SignalMask avoided) noexcept {
  const SignalMask timer = mask_of(process_state.timer_signal);
  const bool gives_up_timer = wanted & timer;
  const bool gives_up_sigtrap = wanted & mask_of(SIGTRAP);
  if (gives_up_timer || (gives_up_sigtrap && !(owned_signals() & timer))) {
    if (const int spare = take_spare(wanted | avoided)) {
      use_timer_signal(spare);
    } else {
      // The program uses all signals: it gets its own through the virtual view, and samples interrupt calls
      // that wait.
      process_state.protects_waits = false;
      wanted &= ~timer;
    }
  }
  if (gives_up_sigtrap) stop_using_sigtrap();
  reserve_spare(wanted | avoided);
  for (SignalMask rest = wanted; rest; rest &= rest - 1) release_signal(__builtin_ctzll(rest) + 1);
}

int wait_in_kernel(const WaitSite& site, const sigset_t& set, siginfo_t* info,
                   const timespec* timeout) noexcept {
  return uninterrupted(site, [&] { return HPCRUN_NEXT(sigtimedwait)(&set, info, timeout); });
}

// Waits for a signal of the set. If the wait returns with a sample, the sample is dropped and the wait
// continues.
int wait_for_signal(const WaitSite& site, const sigset_t* asked, siginfo_t* info,
                    const timespec* timeout) noexcept {
  if (in_unmeasured_child()) return HPCRUN_NEXT(sigtimedwait)(asked, info, timeout);
  // Signals that are kept from waiting calls cannot be waited for. A program that waits for all signals does
  // not mean these.
  give_up_timer_signals(to_bits(*asked));
  sigset_t kernel = *asked;
  set_bits(kernel, to_bits(*asked) & ~(wait_signals() | request_signals_of_kinds()));
  // A sample may still arrive as a signal that was released.
  const SignalMask owned_waited = to_bits(kernel) & owned_signals();
  if (!owned_waited) return wait_in_kernel(site, kernel, info, timeout);
  const timespec end = timeout ? end_of(*timeout) : timespec{};
  siginfo_t found{};
  VirtualWait wait(owned_waited);
  const int signal = guarded(wait, [&] {
    for (;;) {
      if (const int pending = wait.take(found)) {
        if (found.si_code == SI_TKILL) found.si_code = SI_USER;  // as the C library does
        return pending;
      }
      const timespec left = timeout ? remaining(end) : timespec{};
      const int next = wait_in_kernel(site, kernel, &found, timeout ? &left : nullptr);
      if (next < 0 || !(is_our_sample(next, found) || is_wake_up(found))) return next;
    }
  });
  if (signal > 0 && info) *info = found;
  return signal;
}

}  // namespace

HPCRUN_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  if (in_unmeasured_child()) return HPCRUN_NEXT(sigaction)(signal, action, old);
  if (!is_owned(signal)) {
    // Owned signals are removed from the handler's mask. They would only be delayed while the handler runs,
    // but a thread that never leaves its handler would not be sampled any more.
    if (!action) return HPCRUN_NEXT(sigaction)(signal, action, old);
    struct sigaction kernel = *action;
    kernel.sa_mask = without_held(action->sa_mask);
    return HPCRUN_NEXT(sigaction)(signal, &kernel, old);
  }
  // A signal that the program handles must interrupt waiting calls.
  const bool is_handled = action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
  if (is_handled && (wait_signals() & mask_of(signal))) give_up_signals(mask_of(signal), 0);
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
  return wait_for_signal(HPCRUN_WAIT_SITE(sigtimedwait), set, info, timeout);
}

HPCRUN_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  return wait_for_signal(HPCRUN_WAIT_SITE(sigwaitinfo), set, info, nullptr);
}

HPCRUN_EXPORT int sigwait(const sigset_t* set, int* found) {
  for (;;) {
    const int signal = wait_for_signal(HPCRUN_WAIT_SITE(sigwait), set, nullptr, nullptr);
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

// A signalfd reads signals that are blocked in the kernel. Signals that the program reads this way cannot
// stay ours.
HPCRUN_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  const SignalMask wanted = to_bits(*set) & held_signals();
  if (wanted && !in_unmeasured_child()) give_up_signals(wanted, to_bits(*set));
  return HPCRUN_NEXT(signalfd)(descriptor, set, flags);
}
