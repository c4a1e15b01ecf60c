// Functions that wait with another signal mask. The mask is translated from the program's virtual view of
// owned signals (virtual_signals.h) to the kernel's, and samples must not interrupt the call.

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "hpcrun/interpose/next_function.h"
#include "hpcrun/signals/virtual_signals.h"
#include "hpcrun/signals/wait_calls.h"

using namespace hpcrun;

// The name of ppoll() in programs compiled with _FORTIFY_SOURCE; its header does not declare it.
extern "C" int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);

HPCRUN_NEXT_OF(sigsuspend);
HPCRUN_NEXT_OF(ppoll);
HPCRUN_NEXT_OF(__ppoll_chk);
HPCRUN_NEXT_OF(pselect);
HPCRUN_NEXT_OF(epoll_pwait);
HPCRUN_NEXT_OF(epoll_pwait2);

namespace {

// Runs a call that waits with another mask. The kernel unblocks held signals as the call begins to wait.
// Therefore no signal can be handled just before the wait and then be waited for in vain. Samples of a
// running clock stay blocked.
template <typename Call>
int wait_with_mask(const WaitSite& site, const sigset_t* mask, Call call) {
  if (!mask) return uninterrupted(site, [=] { return call(nullptr); });
  if (!owned_signals() || in_unmeasured_child()) return call(mask);
  sigset_t kernel = without_held(*mask);
  VirtualMask exchanged(to_bits(*mask));
  return guarded(exchanged, [&] {
    Wait wait;
    if (!wait.begin(site)) return call(&kernel);
    set_bits(kernel, to_bits(kernel) | wait_signals());
    return guarded(wait, [&] { return call(&kernel); });
  });
}

}  // namespace

HPCRUN_EXPORT int sigsuspend(const sigset_t* set) {
  return wait_with_mask(HPCRUN_WAIT_SITE(sigsuspend), set,
                        [](const sigset_t* kernel) { return HPCRUN_NEXT(sigsuspend)(kernel); });
}

HPCRUN_EXPORT int __sigsuspend(const sigset_t* set) {
  return sigsuspend(set);
}

HPCRUN_EXPORT int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return wait_with_mask(HPCRUN_WAIT_SITE(ppoll), mask, [=](const sigset_t* kernel) {
    return HPCRUN_NEXT(ppoll)(descriptors, count, timeout, kernel);
  });
}

HPCRUN_EXPORT int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* timeout,
                              const sigset_t* mask, size_t bytes) {
  return wait_with_mask(HPCRUN_WAIT_SITE(__ppoll_chk), mask, [=](const sigset_t* kernel) {
    return HPCRUN_NEXT(__ppoll_chk)(descriptors, count, timeout, kernel, bytes);
  });
}

HPCRUN_EXPORT int pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* timeout,
                          const sigset_t* mask) {
  return wait_with_mask(HPCRUN_WAIT_SITE(pselect), mask, [=](const sigset_t* kernel) {
    return HPCRUN_NEXT(pselect)(count, read, write, except, timeout, kernel);
  });
}

HPCRUN_EXPORT int epoll_pwait(int descriptor, epoll_event* events, int most, int timeout,
                              const sigset_t* mask) {
  return wait_with_mask(HPCRUN_WAIT_SITE(epoll_pwait), mask, [=](const sigset_t* kernel) {
    return HPCRUN_NEXT(epoll_pwait)(descriptor, events, most, timeout, kernel);
  });
}

HPCRUN_EXPORT int epoll_pwait2(int descriptor, epoll_event* events, int most, const timespec* timeout,
                               const sigset_t* mask) {
  auto* next = HPCRUN_NEXT(epoll_pwait2);  // glibc 2.35
  if (!next) {
    errno = ENOSYS;
    return -1;
  }
  return wait_with_mask(HPCRUN_WAIT_SITE(epoll_pwait2), mask, [=](const sigset_t* kernel) {
    return next(descriptor, events, most, timeout, kernel);
  });
}
