#include "repair/isolate/trapped_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/call_table.h"
#include "repair/isolate/clone_calls.h"
#include "repair/isolate/cpu_time.h"
#include "repair/isolate/futex_calls.h"
#include "repair/isolate/interrupted_calls.h"
#include "repair/isolate/mask_calls.h"
#include "repair/isolate/parked.h"
#include "repair/isolate/program_actions.h"
#include "repair/isolate/program_calls.h"
#include "repair/isolate/session.h"
#include "repair/isolate/signal_masks.h"
#include "repair/isolate/switch.h"
#include "repair/isolate/twin.h"

namespace hpcrun {

namespace {

constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH

timespec time_until(uint64_t ns) noexcept {
  const uint64_t now = monotonic_ns();
  const uint64_t left = ns > now ? ns - now : 0;
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

// Writable memory that a twin would have a copy of. What the C library maps for itself, and libraries' data.
bool makes_private_memory(const SystemCall& call) noexcept {
  const long* a = call.arguments;
  switch (call.number) {
    case SYS_mmap:
      return (a[3] & MAP_TYPE) == MAP_PRIVATE && (a[2] & PROT_WRITE);
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      return a[2] & PROT_WRITE;
    case SYS_mremap:
    case SYS_brk:
      return true;
    default:
      return false;
  }
}

// One call of the program's, from the trap to its result.
class TrappedCall {
 public:
  TrappedCall(ThreadRecord& record, ucontext_t& context) noexcept;

  // kMadeAtSite or the result. Not for rt_sigreturn.
  long make() noexcept;
  [[noreturn]] void return_from_handler() noexcept;

  // It was begun again as the session began.
  void has_begun_before() noexcept {
    record_.begun_again_pc = 0;
    has_begun_ = true;
  }

  // Before the handler returns: the thread may have changed over, and its mask is that of where it is.
  void end() noexcept;

 private:
  MadeBy made_by_now() const noexcept;
  bool make_as_twin(long& result) noexcept;
  long make_at_home() noexcept;
  long make_certainly_at_home() noexcept;
  long make_alone_at_home() noexcept;
  void tell_change() const noexcept;
  long interrupted() noexcept;
  bool pass(long& result) noexcept;
  bool pass_to_kernel(long& result) noexcept;
  void go_home(Leaving reason) noexcept;
  void take_own_mask() noexcept;
  [[noreturn]] void end_process() noexcept;
  [[noreturn]] void end_thread() noexcept;
  long execute_program() noexcept;

  ThreadRecord& record_;
  ucontext_t& context_;
  SystemCall call_;
  uintptr_t outer_call_at_home_;
  TimeLimit limit_;
  EndsByHandler ends_;
  uint64_t ends_at_ = 0;
  timespec time_left_{};
  bool has_begun_ = false;
  uint32_t returns_before_;  // from handlers of the program's, before the call was begun for the first time
  uint64_t mask_ = 0;          // of a call that waits with one
  uint64_t twin_mask_;         // that the context has where a twin made the call
  bool has_new_mask_ = false;  // the call has set it, at home
};

TrappedCall::TrappedCall(ThreadRecord& record, ucontext_t& context) noexcept
    : record_(record), context_(context), outer_call_at_home_(record.call_at_home) {
  const auto& registers = context.uc_mcontext.gregs;
  call_.number = registers[REG_RAX];
  constexpr int kArguments[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
  for (int i = 0; i < 6; ++i) call_.arguments[i] = registers[kArguments[i]];
  limit_ = time_limit(call_.number, call_.arguments);
  ends_ = ends_by_handler(call_.number, call_.arguments);
  returns_before_ = record.program_returns;
  twin_mask_ = twin_mask();
  record_.in_trap = true;  // from here on nobody but this code gives the thread back
  // What the thread was in when a handler of the program's was called, which has jumped out of it since.
  const auto stack = static_cast<uintptr_t>(registers[REG_RSP]);
  // Since Linux 4.7 the flags of the frame do not say so.
  const bool is_on_own_stack =
      stack - reinterpret_cast<uintptr_t>(context.uc_stack.ss_sp) < context.uc_stack.ss_size;
  if (stack > outer_call_at_home_ && !is_on_own_stack) outer_call_at_home_ = 0;
  if (stack > record.passed_calls && !is_on_own_stack) record.passed_calls = 0;
  record_.call_at_home = outer_call_at_home_;
}

void TrappedCall::go_home(Leaving reason) noexcept {
  const uint64_t mask = give_back_in_handler(reason);
  set_mask_bits(context_.uc_sigmask, mask);
  // A handler may have had it converted again: then the context's mask is a twin's, and goes on being one.
  record_.in_trap = is_twin();
  set_kernel_mask(mask);
}

// At home. A thread that was given back as this handler began has a twin's mask in the context still; the
// kernel has its own.
void TrappedCall::take_own_mask() noexcept {
  if (mask_bits(context_.uc_sigmask) != twin_mask_) return;
  const uint64_t mask = set_kernel_mask(kAllSignals);
  if (!is_twin()) set_mask_bits(context_.uc_sigmask, mask);
  set_kernel_mask(mask);
}

long TrappedCall::make() noexcept {
  long result = 0;
  for (;;) {
    if (!is_twin()) {
      record_.in_trap = false;
      result = make_at_home();
      if (result != kNotExecuted) return result;
      continue;
    }
    record_.in_trap = true;
    if (was_asked_back()) {
      const uint32_t returns = record_.program_returns;
      go_home(Leaving::Asked);
      // A handler of the program's has run: as it would have while the call waited.
      if (has_begun_ && returns != record_.program_returns &&
          (ends_ == EndsByHandler::Always ||
           (ends_ == EndsByHandler::Unrestarted && !record_.handlers_restart)))
        return interrupted();
      continue;
    }
    if (session.hooks.before_call) session.hooks.before_call();
    const bool done = make_as_twin(result);
    if (!done) {
      // Asked for while it waited, or interrupted by us: looked at again above.
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
  if (begins_to_watch_cpu_time(call_)) return MadeBy::Home;
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
      return a[1] == F_SETOWN || a[1] == F_SETOWN_EX ? MadeBy::Home : MadeBy::Twin;
    case SYS_clock_gettime: {
      const auto clock = static_cast<clockid_t>(a[0]);
      const bool is_cpu_time =
          clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
      return is_cpu_time ? MadeBy::Original : MadeBy::Twin;
    }
    case SYS_close_range: {
      constexpr long kUnshare = 2;  // CLOSE_RANGE_UNSHARE: the thread's descriptors become its own
      return a[2] & kUnshare ? MadeBy::Home : MadeBy::Twin;
    }
    case SYS_tgkill:
      return a[1] == record_.tid.load() ? MadeBy::Home : MadeBy::Original;
    case SYS_tkill:
      return a[0] == record_.tid.load() ? MadeBy::Home : MadeBy::Original;
    default:
      return made_by(call_.number);
  }
}

// Makes the call in this process, whichever it is. False where that has to be thought over.
bool TrappedCall::pass(long& result) noexcept {
  if (!is_twin()) record_.stop.store(0);  // a handler that comes from here on may set it
  // From here on a handler that comes before the kernel has the call ends it (return_from_handler()).
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
      constexpr time_t kForEver = 1'000'000'000;  // s
      if (time.tv_sec >= 0 && time.tv_sec < kForEver && time.tv_nsec >= 0)
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
  std::atomic<uint32_t>& stop = is_twin() ? record_.asked_back : record_.stop;
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

// False: to be thought over (kNotExecuted), or to be made at home.
bool TrappedCall::make_as_twin(long& result) noexcept {
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
      // Twins have address spaces of their own, which those for one address space leave out.
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
    case MadeBy::Twin:
      if (is_futex_call(call_.number) && session.hooks.waits_on)
        for_each_futex(call_, session.hooks.waits_on);
      if (!pass(result)) return false;
      // The signal that goes with these was sent to this process and is blocked: made again at home, the call
      // fails again and sends it there.
      // Memory that came since the thread converted is there at home alone.
      return result != -EPIPE && result != -EFBIG && result != -EFAULT;
    case MadeBy::Original:
      result = call_by_original(call_);
      return true;
    default:
      return false;
  }
}

long TrappedCall::make_at_home() noexcept {
  // From here on no handler converts the thread; one may have until here.
  record_.call_at_home = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  long result = kNotExecuted;
  if (!is_twin()) {
    take_own_mask();
    result = make_certainly_at_home();
  }
  // What is done stays so until the handler ends: a twin would begin with the mask that the call has changed.
  if (result == kNotExecuted) record_.call_at_home = outer_call_at_home_;
  return result;
}

long TrappedCall::make_certainly_at_home() noexcept {
  bool has_signal = false;
  long result = 0;
  switch (call_.number) {
    // A handler of ours may convert the thread just before the kernel has a call that twins make: the kernel
    // would tell the twin's numbers.
    case SYS_getpid:
      return session.pid;
    case SYS_gettid:
      return record_.tid.load();
    case SYS_membarrier:  // and leave out other twins
      pass(result);
      return result;
    case SYS_rt_sigprocmask:
      has_new_mask_ = true;
      return change_mask(call_, record_, context_, has_signal);
    case SYS_sigaltstack:
      pass(result);
      raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&context_.uc_stack));
      return result;
    case SYS_exit:
      end_thread();
    case SYS_exit_group:
      end_process();
    default:
      break;
  }
  if (is_clone_call(call_.number)) return clone_at_home(call_, context_);
  if (makes_private_memory(call_)) note_private_memory();
  if (is_session_on() && begins_to_watch_cpu_time(call_)) begin_to_watch_time();
  const MadeBy by = made_by_now();
  if (by == MadeBy::HomeAlone && is_session_on()) return make_alone_at_home();
  if (by == MadeBy::Original) return call_in_program(call_);
  if (by == MadeBy::Twin) record_.call_at_home = outer_call_at_home_;
  pass(result);
  return result;
}

// Which range of memory the call changes or takes away; none: it is no such call.
void TrappedCall::tell_change() const noexcept {
  if (!session.hooks.memory_changes) return;
  switch (call_.number) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise: {
      const auto low = static_cast<uint64_t>(call_.arguments[0]);
      return session.hooks.memory_changes(low, low + static_cast<uint64_t>(call_.arguments[1]));
    }
    default:
      return;
  }
}

long TrappedCall::make_alone_at_home() noexcept {
  bring_all_home();
  tell_change();
  long result = 0;
  if (call_.number == SYS_execve || call_.number == SYS_execveat)
    result = execute_program();
  else
    result = call_in_program(call_);
  // A descriptor that is read in a twin has the twin's signals: from now on there are none.
  const bool reads_signals = (call_.number == SYS_signalfd || call_.number == SYS_signalfd4) && result >= 0;
  if (!reads_signals) release_twins();
  return result;
}

// The new program gets the mask that this one believes in, and children that it knows of.
long TrappedCall::execute_program() noexcept {
  for_each_record([](ThreadRecord& record) { await_end_of_twin(record); });
  const uint64_t mask = set_kernel_mask(mask_of_program(record_, context_));
  const bool ignores = action_of_own_signal(SIGSYS).handler == reinterpret_cast<void*>(SIG_IGN);
  const KernelAction ignored = action_of_own_signal(SIGSYS);
  if (ignores) kernel_action(SIGSYS, &ignored, nullptr);
  const long result = call_in_program(call_);
  if (ignores) install_trap_handler();
  set_kernel_mask(mask);
  return result;
}

void TrappedCall::end_thread() noexcept {
  set_kernel_mask(kAllSignals);
  const int status = static_cast<int>(call_.arguments[0]);
  await_end_of_twin(record_);
  set_this_record(nullptr);
  free_record(record_);
  for (;;) raw_syscall(SYS_exit, status);
}

void TrappedCall::end_process() noexcept {
  set_kernel_mask(kAllSignals);
  kill_twins();
  for (;;) raw_syscall(SYS_exit_group, call_.arguments[0]);
}

// With all signals blocked, so that nobody comes between: what is asked for later comes when the handler has
// returned.
void TrappedCall::end() noexcept {
  if (!is_twin() && !has_new_mask_) take_own_mask();
  set_kernel_mask(kAllSignals);
  record_.call_at_home = outer_call_at_home_;
  const bool was_twin = is_twin();
  const uint64_t mask = settle_in_handler(is_at_clone_site(context_));
  // At home the context has the mask that the call may have set.
  if (was_twin || is_twin()) set_mask_bits(context_.uc_sigmask, mask);
}

// The frame of the program's handler lies where its stack is now.
void TrappedCall::return_from_handler() noexcept {
  auto& frame = *reinterpret_cast<ucontext_t*>(context_.uc_mcontext.gregs[REG_RSP]);
  ++record_.program_returns;
  end_call_begun_again(record_, frame);
  auto& at = frame.uc_mcontext.gregs[REG_RIP];
  if (record_.handlers_end_call && at >= reinterpret_cast<intptr_t>(hpcrun_passed_call_begin) &&
      at < reinterpret_cast<intptr_t>(hpcrun_passed_call_end))
    at = reinterpret_cast<intptr_t>(hpcrun_passed_call_ended);
  else if (record_.handlers_end_call)
    record_.stop.store(1);  // on the way there: pass() looks again
  // A sample may be taken in a handler of ours, which nobody interrupts otherwise. Programs' never have this
  // mask: they may have changed it, but not to that.
  if (mask_bits(frame.uc_sigmask) != (kHandlerMask & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP))))
    set_mask_bits(frame.uc_sigmask, mask_bits(frame.uc_sigmask) & ~own_signal_bits());
  // At home from here on, where it is there: a twin would begin with the mask of the handler.
  record_.call_at_home = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  record_.in_trap = true;  // also where a handler has made it a twin just now
  if (is_twin()) {
    record_.call_at_home = outer_call_at_home_;
    record_.program_mask.store(mask_bits(frame.uc_sigmask));
    SystemCall news;
    news.number = kMaskChanged;
    if (call_by_original(news)) go_home(Leaving::Call);
  }
  set_kernel_mask(kAllSignals);
  record_.call_at_home = outer_call_at_home_;
  settle_in_handler(is_at_clone_site(frame));
  if (is_twin()) set_mask_bits(frame.uc_sigmask, twin_mask());
  hpcrun_return_to(&frame);
}

// Raised by something else: the program's own filter of system calls, or sent to it.
void on_other_sigsys(siginfo_t& info, ucontext_t& context) noexcept {
  ThreadRecord* record = this_record();
  if (record && is_twin()) {
    set_mask_bits(context.uc_sigmask, give_back_in_handler(Leaving::Call));
    context.uc_mcontext.gregs[REG_RIP] -= kCallBytes;  // made again, and refused again
    return;
  }
  const KernelAction action = action_of_own_signal(SIGSYS);
  if (action.handler == reinterpret_cast<void*>(SIG_IGN)) return;
  if (action.handler != reinterpret_cast<void*>(SIG_DFL))
    return reinterpret_cast<void (*)(int, siginfo_t*, void*)>(action.handler)(SIGSYS, &info, &context);
  kernel_action(SIGSYS, &action, nullptr);
  raw_syscall(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), SIGSYS, reinterpret_cast<long>(&info));
}

// A signal that an event raised as the call was on its way into the kernel (SIGTRAP, of perf) may be taken
// first: then its handler is what this one interrupts, and the call is in the context of that. It is made
// again, after that handler. False: the call is where it should be.
bool comes_late(const siginfo_t& info, const ucontext_t& context) noexcept {
  const auto call = reinterpret_cast<greg_t>(info.si_call_addr);
  const ucontext_t* at = &context;
  constexpr int kMostBetween = 4;
  for (int i = 0; i < kMostBetween && at->uc_mcontext.gregs[REG_RIP] != call; ++i) {
    // At the first instruction of a handler its third argument is there.
    const auto inner = static_cast<uint64_t>(at->uc_mcontext.gregs[REG_RDX]);
    uint64_t word;
    if (!safe_load_word(inner + offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]), word)) return false;
    at = reinterpret_cast<const ucontext_t*>(inner);
  }
  if (at == &context || at->uc_mcontext.gregs[REG_RIP] != call) return false;
  const_cast<ucontext_t*>(at)->uc_mcontext.gregs[REG_RIP] -= kCallBytes;
  return true;
}

void on_trap(int, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  if (info->si_code != kUserDispatch) return on_other_sigsys(*info, context);
  if (comes_late(*info, context)) return;
  ThreadRecord& record = *this_record();
  const int saved_errno = errno;  // of hooks
  twin_counts().trapped_calls.fetch_add(1, std::memory_order_relaxed);
  TrappedCall call(record, context);
  if (record.begun_again_pc &&
      reinterpret_cast<uint64_t>(info->si_call_addr) == record.begun_again_pc + kCallBytes)
    call.has_begun_before();
  if (context.uc_mcontext.gregs[REG_RAX] == SYS_rt_sigreturn) call.return_from_handler();
  const long result = call.make();
  if (result != kMadeAtSite) context.uc_mcontext.gregs[REG_RAX] = result;
  call.end();
  errno = saved_errno;
}

}  // namespace

void install_trap_handler() noexcept {
  KernelAction action;
  action.handler = reinterpret_cast<void*>(on_trap);
  action.flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | kRestorerFlag;
  action.restorer = reinterpret_cast<void*>(hpcrun_signal_return);
  kernel_action(SIGSYS, &action, nullptr);
}

}  // namespace hpcrun
