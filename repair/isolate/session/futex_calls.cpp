#include "repair/isolate/session/futex_calls.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "hpcrun/guest/safe_load.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

namespace {

constexpr long kWaitv = 449;
constexpr long kWake = 454;
constexpr long kWait = 455;
constexpr long kRequeue = 456;
constexpr uint32_t kPrivate = FUTEX_PRIVATE_FLAG;  // also for the newer calls

bool inherits_priority(long operation) noexcept {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_UNLOCK_PI:
    case FUTEX_TRYLOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_CMP_REQUEUE_PI:
    case FUTEX_LOCK_PI2:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_futex_call(long number) noexcept {
  return number == SYS_futex || number == kWaitv || (number >= kWake && number <= kRequeue);
}

MadeBy futex_made_by(const SystemCall& call) noexcept {
  if (call.number != SYS_futex || !inherits_priority(call.arguments[1])) return MadeBy::Converted;
  const long operation = call.arguments[1] & FUTEX_CMD_MASK;
  const bool waits =
      operation != FUTEX_UNLOCK_PI && operation != FUTEX_TRYLOCK_PI && operation != FUTEX_CMP_REQUEUE_PI;
  return waits ? MadeBy::Home : MadeBy::Original;
}

void for_each_futex(const SystemCall& call, void (*use)(uint64_t address)) noexcept {
  constexpr unsigned kMaxWaiters = 128;  // FUTEX_WAITV_MAX; the kernel refuses more
  unsigned listed = 0;
  switch (call.number) {
    case SYS_futex:
      use(static_cast<uint64_t>(call.arguments[0]));
      use(static_cast<uint64_t>(call.arguments[4]));
      return;
    case kWaitv:
      listed = static_cast<unsigned>(call.arguments[1]);
      break;
    case kRequeue:
      listed = 2;
      break;
    default:
      use(static_cast<uint64_t>(call.arguments[0]));
      return;
  }
  if (listed > kMaxWaiters) return;
  for (unsigned i = 0; i < listed; ++i) {
    FutexWaiter waiter;
    const uint64_t at = static_cast<uint64_t>(call.arguments[0]) + i * sizeof waiter;
    if (!safe_read(at, &waiter, sizeof waiter)) return;
    use(waiter.address);
  }
}

SharedFutexCall::SharedFutexCall(const SystemCall& call) noexcept : call_(call) {
  // Threads in the session use shared futexes. A thread that is still in a call from before the session uses
  // private ones until it enters with the others, even if the session has begun.
  if (!is_in_session(this_record())) return;
  switch (call.number) {
    case SYS_futex:
      if (!inherits_priority(call.arguments[1])) call_.arguments[1] &= ~static_cast<long>(kPrivate);
      break;
    case kWake:
      call_.arguments[3] &= ~static_cast<long>(kPrivate);
      break;
    case kWait:
      call_.arguments[3] &= ~static_cast<long>(kPrivate);
      break;
    case kWaitv:
      share_list(0, static_cast<unsigned>(call.arguments[1]));
      break;
    case kRequeue:
      share_list(0, 2);
      break;
  }
}

void SharedFutexCall::share_list(int argument, unsigned count) noexcept {
  if (count > kMaxWaiters) return;  // the kernel refuses it anyway
  if (!safe_read(static_cast<uint64_t>(call_.arguments[argument]), waiters_, count * sizeof(FutexWaiter))) return;
  for (unsigned i = 0; i < count; ++i) waiters_[i].flags &= ~kPrivate;
  call_.arguments[argument] = reinterpret_cast<long>(waiters_);
}

}  // namespace hpcrun
