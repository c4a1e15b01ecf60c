// The part of a trapped call that the thread makes at home.

#include "repair/isolate/session/trapped_call.h"

#include <sys/mman.h>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/clone_calls.h"
#include "repair/isolate/session/cpu_time.h"
#include "repair/isolate/session/mask_calls.h"
#include "repair/isolate/session/parked.h"
#include "repair/isolate/session/program_actions.h"
#include "repair/isolate/session/program_calls.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/switch.h"
#include "repair/isolate/session/tasks.h"
#include "repair/isolate/session/trapped_calls.h"

namespace hpcrun {

namespace {

// True if a converted thread would get a copy of this writable memory: what the C library maps for itself,
// and libraries' data.
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

}  // namespace

// At home. A thread that came home as this handler began still has a converted thread's mask in the context;
// the kernel has the thread's own.
void TrappedCall::take_own_mask() noexcept {
  if (mask_bits(context_.uc_sigmask) != converted_mask_) return;
  const uint64_t mask = set_kernel_mask(kAllSignals);
  if (!is_converted()) set_mask_bits(context_.uc_sigmask, mask);
  set_kernel_mask(mask);
}

long TrappedCall::make_at_home() noexcept {
  // From here on no handler converts the thread; one may have before.
  record_.call_at_home = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  long result = kNotExecuted;
  if (!is_converted()) {
    take_own_mask();
    result = make_certainly_at_home();
  }
  // It stays at home until the handler ends: a converted thread would begin with the mask that the call has
  // changed.
  if (result == kNotExecuted) record_.call_at_home = outer_call_at_home_;
  return result;
}

long TrappedCall::make_certainly_at_home() noexcept {
  bool has_signal = false;
  long result = 0;
  switch (call_.number) {
    // A handler of ours may convert the thread just before the kernel gets a call that converted threads make
    // themselves. The kernel would return the converted thread's numbers.
    case SYS_getpid:
      return session.pid;
    case SYS_gettid:
      return record_.tid.load();
    case SYS_membarrier:  // other converted threads would be left out
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
  if (is_session_on() && starts_cpu_timer(call_)) note_cpu_timers();
  const MadeBy by = made_by_now();
  if (by == MadeBy::HomeAlone && is_session_on()) return make_alone_at_home();
  if (by == MadeBy::Original) return call_in_program(call_);
  if (by == MadeBy::Converted) record_.call_at_home = outer_call_at_home_;
  pass(result);
  return result;
}

// Reports the range of memory that the call changes or removes, if it is such a call.
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
  // A descriptor that is read in a converted thread returns the converted thread's signals. From now on no
  // thread is converted.
  const bool reads_signals = (call_.number == SYS_signalfd || call_.number == SYS_signalfd4) && result >= 0;
  if (!reads_signals) release_converted_threads();
  return result;
}

// The new program gets the mask that this one believes to have, and only children that it created.
long TrappedCall::execute_program() noexcept {
  for_each_record([](ThreadRecord& record) { await_end_of_converted_thread(record); });
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
  await_end_of_converted_thread(record_);
  set_this_record(nullptr);
  free_record(record_);
  for (;;) raw_syscall(SYS_exit, status);
}

void TrappedCall::end_process() noexcept {
  set_kernel_mask(kAllSignals);
  kill_converted_threads();
  for (;;) raw_syscall(SYS_exit_group, call_.arguments[0]);
}

}  // namespace hpcrun
