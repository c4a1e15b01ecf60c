#include "repair/isolate/session/mask_calls.h"

#include <errno.h>

#include <cstring>

#include "hpcrun/guest/safe_load.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/parked.h"
#include "repair/isolate/session/signal_masks.h"

namespace hpcrun {

uint64_t mask_of_program(const ThreadRecord& record, const ucontext_t& context) noexcept {
  const uint64_t kernel = is_converted() ? record.program_mask.load() : mask_bits(context.uc_sigmask);
  return kernel | record.hidden_mask;
}

long change_mask(const SystemCall& call, ThreadRecord& record, ucontext_t& context,
                 bool& has_signal) noexcept {
  const auto set = static_cast<uint64_t>(call.arguments[1]);
  const auto old = static_cast<uint64_t>(call.arguments[2]);
  if (call.arguments[3] != sizeof(uint64_t)) return -EINVAL;
  const uint64_t before = mask_of_program(record, context);
  uint64_t after = before;
  if (set) {
    uint64_t asked;
    if (!safe_read(set, &asked, sizeof asked)) return -EFAULT;
    asked &= ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
    switch (static_cast<int>(call.arguments[0])) {
      case SIG_BLOCK:
        after |= asked;
        break;
      case SIG_UNBLOCK:
        after &= ~asked;
        break;
      case SIG_SETMASK:
        after = asked;
        break;
      default:
        return -EINVAL;
    }
  }
  if (old) {
    // The kernel checks the address.
    const long error = raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, call.arguments[2], sizeof(uint64_t));
    if (error < 0) return error;
    memcpy(reinterpret_cast<void*>(old), &before, sizeof before);
  }
  if (after == before) return 0;
  record.hidden_mask = after & own_signal_bits();
  if (is_converted()) {
    record.program_mask.store(after & ~own_signal_bits());
    SystemCall news;
    news.number = kMaskChanged;
    has_signal = call_by_original(news) != 0;
  } else {
    set_mask_bits(context.uc_sigmask, after & ~own_signal_bits());
  }
  return 0;
}

int mask_argument(long number) noexcept {
  switch (number) {
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
      return 0;
    case SYS_ppoll:
      return 3;
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
      return 4;
    default:
      return -1;  // pselect6 has its mask one step farther
  }
}

}  // namespace hpcrun
