#include "repair/isolate/session/trapped_call.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/cpu_time.h"
#include "repair/isolate/session/futex_calls.h"
#include "repair/isolate/session/mask_calls.h"
#include "repair/isolate/session/parked.h"
#include "repair/isolate/session/program_actions.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/switch.h"

namespace hpcrun {

namespace {

timespec time_until(uint64_t ns) noexcept {
  const uint64_t now = monotonic_ns();
  const uint64_t left = ns > now ? ns - now : 0;
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

}  // namespace

TrappedCall::TrappedCall(ThreadRecord& record, ucontext_t& context) noexcept
    : record_(record), context_(context), outer_call_at_home_(record.call_at_home) {
  const auto& registers = context.uc_mcontext.gregs;
  call_.number = registers[REG_RAX];
  constexpr int kArguments[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
  for (int i = 0; i < 6; ++i) call_.arguments[i] = registers[kArguments[i]];
  limit_ = time_limit(call_.number, call_.arguments);
  ends_ = ends_by_handler(call_.number, call_.arguments);
  returns_before_ = record.program_returns;
  converted_mask_ = converted_mask();
  record_.in_trap = true;  // from here on only this code brings the thread home
  // Clears the state of a call from which a handler of the program has jumped since.
  const auto stack = static_cast<uintptr_t>(registers[REG_RSP]);
  // Since Linux 4.7 the frame's flags do not show it.
  const bool is_on_own_stack =
      stack - reinterpret_cast<uintptr_t>(context.uc_stack.ss_sp) < context.uc_stack.ss_size;
  if (stack > outer_call_at_home_ && !is_on_own_stack) outer_call_at_home_ = 0;
  if (stack > record.passed_calls && !is_on_own_stack) record.passed_calls = 0;
  record_.call_at_home = outer_call_at_home_;
}

void TrappedCall::go_home(Leaving reason) noexcept {
  const uint64_t mask = give_back_in_handler(reason);
  set_mask_bits(context_.uc_sigmask, mask);
  // A handler may have converted the thread again: the context's mask is then a converted thread's, and stays
  // so.
  record_.in_trap = is_converted();
  set_kernel_mask(mask);
}

long TrappedCall::make() noexcept {
  long result = 0;
  for (;;) {
    if (!is_converted()) {
      record_.in_trap = false;
      result = make_at_home();
      if (result != kNotExecuted) return result;
      continue;
    }
    record_.in_trap = true;
    if (was_asked_back()) {
      const uint32_t returns = record_.program_returns;
      go_home(Leaving::Asked);
      // A handler of the program has run, as it would have while the call waited.
      if (has_begun_ && returns != record_.program_returns &&
          (ends_ == EndsByHandler::Always ||
           (ends_ == EndsByHandler::Unrestarted && !record_.handlers_restart)))
        return interrupted();
      continue;
    }
    if (session.hooks.before_call) session.hooks.before_call();
    const bool done = make_as_converted(result);
    if (!done) {
      // Requested while the call waited, or interrupted by us: checked again above.
      if (!was_asked_back() && result != kNotExecuted) go_home(Leaving::Call);
      continue;
    }
    if (session.hooks.after_call) session.hooks.after_call();
    return result;
  }
}

long TrappedCall::interrupted() noexcept {
  const int argument = time_left_argument(call_.number);
  if (argument >= 0 && call_.arguments[argument] && ends_at_) {
    const timespec left = time_until(ends_at_);
    if (!write_to_program(reinterpret_cast<void*>(call_.arguments[argument]), &left, sizeof left))
      return -EFAULT;
  }
  return -EINTR;
}

MadeBy TrappedCall::made_by_now() const noexcept {
  const long* a = call_.arguments;
  if (is_futex_call(call_.number)) return futex_made_by(call_);
  if (starts_cpu_timer(call_)) return MadeBy::Home;
  if (const int path = path_argument(call_.number); path >= 0) {
    constexpr char kOwn[] = {'/', 'p', 'r', 'o', 'c', '/'};
    char begin[sizeof kOwn];
    if (safe_read(static_cast<uint64_t>(a[path]), begin, sizeof begin) &&
        memcmp(begin, kOwn, sizeof kOwn) == 0)
      return MadeBy::Home;
  }
  switch (call_.number) {
    case SYS_mmap:
      return a[3] & MAP_FIXED ? MadeBy::HomeAlone : MadeBy::Home;
    case SYS_madvise:
      return a[2] == MADV_DONTNEED || a[2] == MADV_FREE || a[2] == MADV_REMOVE ? MadeBy::HomeAlone
                                                                               : MadeBy::Home;
    case SYS_fcntl:
      return a[1] == F_SETOWN || a[1] == F_SETOWN_EX ? MadeBy::Home : MadeBy::Converted;
    case SYS_clock_gettime: {
      const auto clock = static_cast<clockid_t>(a[0]);
      const bool is_cpu_time =
          clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
      return is_cpu_time ? MadeBy::Original : MadeBy::Converted;
    }
    case SYS_close_range: {
      constexpr long kUnshare = 2;  // CLOSE_RANGE_UNSHARE: the thread's descriptors become its own
      return a[2] & kUnshare ? MadeBy::Home : MadeBy::Converted;
    }
    case SYS_tgkill:
      return a[1] == record_.tid.load() ? MadeBy::Home : MadeBy::Original;
    case SYS_tkill:
      return a[0] == record_.tid.load() ? MadeBy::Home : MadeBy::Original;
    default:
      return made_by(call_.number);
  }
}

// Makes the call in this process, whichever it is. Returns false if the caller must decide again who makes
// it.
bool TrappedCall::pass(long& result) noexcept {
  if (!is_converted()) record_.stop.store(0);  // a later handler may set it
  // From here on a handler that runs before the kernel has the call ends it (return_from_handler()).
  const bool ends_outer = record_.handlers_end_call;
  record_.handlers_end_call = ends_ == EndsByHandler::Always;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const bool is_made = has_begun_ && record_.handlers_end_call && returns_before_ != record_.program_returns
                           ? (result = kEndedByHandler, true)
                           : pass_to_kernel(result);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  record_.handlers_end_call = ends_outer;
  if (result == kEndedByHandler) result = interrupted();
  return is_made;
}

bool TrappedCall::pass_to_kernel(long& result) noexcept {
  SystemCall call = call_;
  if (limit_.kind != TimeLimit::None) {
    long& argument = call.arguments[limit_.argument];
    const uint64_t since = waits_since_ns(static_cast<uint64_t>(context_.uc_mcontext.gregs[REG_RSP]));
    const uint64_t now = since ? since : monotonic_ns();
    if (ends_at_) {
      time_left_ = time_until(ends_at_);
      argument = limit_.kind == TimeLimit::Timespec
                     ? reinterpret_cast<long>(&time_left_)
                     : time_left_.tv_sec * 1'000 + (time_left_.tv_nsec + 999'999) / 1'000'000;
    } else if (limit_.kind == TimeLimit::Milliseconds) {
      if (static_cast<int>(argument) >= 0)
        ends_at_ = now + static_cast<uint64_t>(static_cast<int>(argument)) * 1'000'000;
    } else if (timespec time; argument && safe_read(static_cast<uint64_t>(argument), &time, sizeof time)) {
      constexpr time_t kForeverSeconds = 1'000'000'000;
      if (time.tv_sec >= 0 && time.tv_sec < kForeverSeconds && time.tv_nsec >= 0)
        ends_at_ =
            now + static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
    }
  }
  if (const int argument = mask_argument(call.number); argument >= 0) {
    if (safe_load_word(static_cast<uint64_t>(call.arguments[argument]), mask_)) {
      mask_ &= ~own_signal_bits();
      call.arguments[argument] = reinterpret_cast<long>(&mask_);
    }
  }
  const uint32_t interruptions = record_.own_interruptions;
  const uint32_t returns = record_.program_returns;
  const uintptr_t outer_passed_calls = record_.passed_calls;
  if (!outer_passed_calls) record_.passed_calls = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  std::atomic<uint32_t>& stop = is_converted() ? record_.asked_back : record_.stop;
  has_begun_ = true;
  if (is_futex_call(call.number)) {
    const SharedFutexCall shared(call);
    result = hpcrun_passed_call(shared.call().number, shared.call().arguments, &stop);
  } else {
    result = hpcrun_passed_call(call.number, call.arguments, &stop);
  }
  record_.passed_calls = outer_passed_calls;
  if (result == -EINTR && interruptions != record_.own_interruptions && returns == record_.program_returns)
    result = kNotExecuted;
  return result != kNotExecuted;
}

// Returns false if the caller must decide again (kNotExecuted), or if the call must be made at home.
bool TrappedCall::make_as_converted(long& result) noexcept {
  result = 0;
  switch (call_.number) {
    case SYS_getpid:
      result = session.pid;
      return true;
    case SYS_gettid:
      result = record_.tid.load();
      return true;
    case SYS_rt_sigprocmask: {
      bool has_signal = false;
      result = change_mask(call_, record_, context_, has_signal);
      if (has_signal) go_home(Leaving::Call);
      return true;
    }
    case SYS_sigaltstack:
      if (!pass(result)) return false;
      raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&context_.uc_stack));
      return true;
    case SYS_membarrier: {
      // Converted threads have address spaces of their own, which the calls for one address space leave out.
      constexpr long kGlobal = 1;
      constexpr long kOfOneProcess =
          0b1101000;  // PRIVATE_EXPEDITED, its SYNC_CORE and the registration of that
      result = raw_syscall(SYS_membarrier, call_.arguments[0] & kOfOneProcess ? kGlobal : call_.arguments[0],
                           call_.arguments[1], call_.arguments[2]);
      return true;
    }
    default:
      break;
  }
  switch (made_by_now()) {
    case MadeBy::Converted:
      if (is_futex_call(call_.number) && session.hooks.waits_on)
        for_each_futex(call_, session.hooks.waits_on);
      if (!pass(result)) return false;
      // The signal of these errors was sent to this process and is blocked. Made again at home, the call
      // fails again and sends the signal there.
      // Memory that was mapped since the thread converted exists only at home.
      return result != -EPIPE && result != -EFBIG && result != -EFAULT;
    case MadeBy::Original:
      result = call_by_original(call_);
      return true;
    default:
      return false;
  }
}

}  // namespace hpcrun
