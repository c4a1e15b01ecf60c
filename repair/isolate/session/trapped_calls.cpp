#include "repair/isolate/session/trapped_calls.h"

#include <errno.h>
#include <ucontext.h>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/clone_calls.h"
#include "repair/isolate/session/parked.h"
#include "repair/isolate/session/program_actions.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/switch.h"
#include "repair/isolate/session/trapped_call.h"

namespace hpcrun {

// Runs with all signals blocked, so that nothing intervenes: later requests take effect when the handler has
// returned.
void TrappedCall::end() noexcept {
  if (!is_converted() && !has_new_mask_) take_own_mask();
  set_kernel_mask(kAllSignals);
  record_.call_at_home = outer_call_at_home_;
  const bool was_converted = is_converted();
  const uint64_t mask = settle_in_handler(is_at_clone_site(context_));
  // At home the context has the mask that the call may have set.
  if (was_converted || is_converted()) set_mask_bits(context_.uc_sigmask, mask);
}

// The frame of the program's handler lies at the current stack pointer.
void TrappedCall::return_from_handler() noexcept {
  auto& frame = *reinterpret_cast<ucontext_t*>(context_.uc_mcontext.gregs[REG_RSP]);
  ++record_.program_returns;
  end_call_begun_again(record_, frame);
  auto& at = frame.uc_mcontext.gregs[REG_RIP];
  if (record_.handlers_end_call && at >= reinterpret_cast<intptr_t>(hpcrun_passed_call_begin) &&
      at < reinterpret_cast<intptr_t>(hpcrun_passed_call_end))
    at = reinterpret_cast<intptr_t>(hpcrun_passed_call_ended);
  else if (record_.handlers_end_call)
    record_.stop.store(1);  // on the way into the kernel: pass() checks again
  // A sample may be taken in a handler of ours, which nothing else interrupts. The program's handlers never
  // have exactly this mask: they may have changed it, but not to that.
  if (mask_bits(frame.uc_sigmask) != (kHandlerMask & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP))))
    set_mask_bits(frame.uc_sigmask, mask_bits(frame.uc_sigmask) & ~own_signal_bits());
  // From here on at home, if it is there: a converted thread would begin with the handler's mask.
  record_.call_at_home = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  record_.in_trap = true;  // even if a handler has just converted it
  if (is_converted()) {
    record_.call_at_home = outer_call_at_home_;
    record_.program_mask.store(mask_bits(frame.uc_sigmask));
    SystemCall news;
    news.number = kMaskChanged;
    if (call_by_original(news)) go_home(Leaving::Call);
  }
  set_kernel_mask(kAllSignals);
  record_.call_at_home = outer_call_at_home_;
  settle_in_handler(is_at_clone_site(frame));
  if (is_converted()) set_mask_bits(frame.uc_sigmask, converted_mask());
  hpcrun_return_to(&frame);
}

namespace {

constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH

// Raised by something else: the program's own seccomp filter, or sent to it.
void on_other_sigsys(siginfo_t& info, ucontext_t& context) noexcept {
  ThreadRecord* record = this_record();
  if (record && is_converted()) {
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

// A signal that an event raised while the call was entering the kernel (SIGTRAP, from perf) may be delivered
// first. Then this handler interrupts that signal's handler, and the call is in its context. It is made again
// after that handler. Returns false if the call is where it should be.
bool comes_late(const siginfo_t& info, const ucontext_t& context) noexcept {
  const auto call = reinterpret_cast<greg_t>(info.si_call_addr);
  const ucontext_t* at = &context;
  constexpr int kMaxBetween = 4;
  for (int i = 0; i < kMaxBetween && at->uc_mcontext.gregs[REG_RIP] != call; ++i) {
    // At the first instruction of a handler, that register holds its third argument.
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
  const int saved_errno = errno;  // the hooks may change it
  converted_thread_counts().trapped_calls.fetch_add(1, std::memory_order_relaxed);
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
