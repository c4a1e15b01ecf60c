// The signal functions of BSD and System V. The C library implements them with internal functions that the
// runtime does not intercept. Therefore they are reimplemented with sigaction(), sigprocmask() and
// sigsuspend() as the program calls them. Each keeps the contract of the function it replaces,
// async-signal-safety included.

#include <errno.h>
#include <signal.h>

#include <atomic>
#include <cstring>

#include "hpcrun/interpose/next_function.h"
#include "hpcrun/signals/virtual_signals.h"

using namespace hpcrun;

using Handler = void (*)(int);

namespace {

// The signals for which siginterrupt() disabled the restart of system calls, for later calls of signal().
std::atomic<SignalMask> interrupting{0};

bool is_signal(int signal) noexcept {
  if (signal >= 1 && signal < NSIG) return true;
  errno = EINVAL;
  return false;
}

sigset_t set_of(SignalMask bits) noexcept {
  sigset_t set;
  sigemptyset(&set);
  memcpy(&set, &bits, sizeof bits);
  return set;
}

Handler set_handler(int signal, Handler handler, int flags, SignalMask mask) noexcept {
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  action.sa_mask = set_of(mask);
  return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

Handler bsd_handler(int signal, Handler handler) noexcept {
  if (handler == SIG_ERR || !is_signal(signal)) {
    errno = EINVAL;
    return SIG_ERR;
  }
  const bool interrupts = interrupting.load(std::memory_order_relaxed) & mask_of(signal);
  return set_handler(signal, handler, interrupts ? 0 : SA_RESTART, mask_of(signal));
}

Handler sysv_handler(int signal, Handler handler) noexcept {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return set_handler(signal, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER), 0);
}

int change_one(int how, int signal) noexcept {
  if (!is_signal(signal)) return -1;
  const sigset_t set = set_of(mask_of(signal));
  return sigprocmask(how, &set, nullptr);
}

// BSD's sets are the first 32 signals.
int change_int_mask(int how, int mask) noexcept {
  const sigset_t set = set_of(static_cast<unsigned>(mask));
  sigset_t old;
  if (sigprocmask(how, &set, &old) != 0) return -1;
  return static_cast<int>(to_bits(old));
}

int suspend_with_int_mask(int mask) noexcept {
  const sigset_t set = set_of(static_cast<unsigned>(mask));
  return sigsuspend(&set);
}

int suspend_without(int signal) noexcept {
  sigset_t set;
  if (!is_signal(signal) || sigprocmask(SIG_BLOCK, nullptr, &set) != 0) return -1;
  sigdelset(&set, signal);
  return sigsuspend(&set);
}

}  // namespace

HPCRUN_EXPORT Handler signal(int signal, Handler handler) noexcept {
  return bsd_handler(signal, handler);
}

HPCRUN_EXPORT Handler ssignal(int signal, Handler handler) noexcept {
  return bsd_handler(signal, handler);
}

HPCRUN_EXPORT Handler bsd_signal(int signal, Handler handler) noexcept {
  return bsd_handler(signal, handler);
}

HPCRUN_EXPORT Handler sysv_signal(int signal, Handler handler) noexcept {
  return sysv_handler(signal, handler);
}

HPCRUN_EXPORT Handler __sysv_signal(int signal, Handler handler) noexcept {
  return sysv_handler(signal, handler);
}

HPCRUN_EXPORT int siginterrupt(int signal, int interrupt) noexcept {
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0) return -1;
  if (interrupt) {
    interrupting.fetch_or(mask_of(signal), std::memory_order_relaxed);
    action.sa_flags &= ~SA_RESTART;
  } else {
    interrupting.fetch_and(~mask_of(signal), std::memory_order_relaxed);
    action.sa_flags |= SA_RESTART;
  }
  return sigaction(signal, &action, nullptr);
}

HPCRUN_EXPORT Handler sigset(int signal, Handler handler) noexcept {
  if (handler == SIG_ERR || !is_signal(signal)) {
    errno = EINVAL;
    return SIG_ERR;
  }
  const sigset_t set = set_of(mask_of(signal));
  sigset_t before;
  struct sigaction old {};
  if (handler == SIG_HOLD) {
    if (sigprocmask(SIG_BLOCK, &set, &before) != 0 || sigaction(signal, nullptr, &old) != 0) return SIG_ERR;
  } else {
    old.sa_handler = set_handler(signal, handler, 0, 0);
    if (old.sa_handler == SIG_ERR || sigprocmask(SIG_UNBLOCK, &set, &before) != 0) return SIG_ERR;
  }
  return to_bits(before) & mask_of(signal) ? SIG_HOLD : old.sa_handler;
}

HPCRUN_EXPORT int sigignore(int signal) noexcept {
  return set_handler(signal, SIG_IGN, 0, 0) == SIG_ERR ? -1 : 0;
}

HPCRUN_EXPORT int sighold(int signal) noexcept {
  return change_one(SIG_BLOCK, signal);
}

HPCRUN_EXPORT int sigrelse(int signal) noexcept {
  return change_one(SIG_UNBLOCK, signal);
}

HPCRUN_EXPORT int sigblock(int mask) noexcept {
  return change_int_mask(SIG_BLOCK, mask);
}

HPCRUN_EXPORT int sigsetmask(int mask) noexcept {
  return change_int_mask(SIG_SETMASK, mask);
}

HPCRUN_EXPORT int siggetmask() noexcept {
  return change_int_mask(SIG_BLOCK, 0);
}

// <signal.h> uses the name sigpause for the System V function, whose symbol is __xpg_sigpause.
HPCRUN_EXPORT int __xpg_sigpause(int signal) {
  return suspend_without(signal);
}

HPCRUN_EXPORT int __sigpause(int signal_or_mask, int is_signal) {
  return is_signal ? suspend_without(signal_or_mask) : suspend_with_int_mask(signal_or_mask);
}

extern "C" __attribute__((visibility("default"))) int bsd_sigpause(int mask) __asm__("sigpause");
int bsd_sigpause(int mask) {
  return suspend_with_int_mask(mask);
}

// Only binaries from before glibc 2.21 can call it.
struct OldVector {
  Handler handler;
  int mask;
  int flags;
};

HPCRUN_EXPORT int sigvec(int signal, const OldVector* vector, OldVector* old) noexcept {
  constexpr int kOnStack = 1;
  constexpr int kInterrupt = 2;
  constexpr int kResetHandler = 4;
  struct sigaction action {};
  struct sigaction before {};
  if (vector) {
    action.sa_handler = vector->handler;
    action.sa_mask = set_of(static_cast<unsigned>(vector->mask));
    if (vector->flags & kOnStack) action.sa_flags |= SA_ONSTACK;
    if (!(vector->flags & kInterrupt)) action.sa_flags |= SA_RESTART;
    if (vector->flags & kResetHandler) action.sa_flags |= static_cast<int>(SA_RESETHAND);
  }
  if (sigaction(signal, vector ? &action : nullptr, &before) != 0) return -1;
  if (old) {
    old->handler = before.sa_handler;
    old->mask = static_cast<int>(to_bits(before.sa_mask));
    old->flags = (before.sa_flags & SA_ONSTACK ? kOnStack : 0) |
                 (before.sa_flags & SA_RESTART ? 0 : kInterrupt) |
                 (before.sa_flags & static_cast<int>(SA_RESETHAND) ? kResetHandler : 0);
  }
  return 0;
}
