#include "repair/isolate/session/parked.h"

#include <errno.h>
#include <sys/wait.h>

#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/program_actions.h"
#include "repair/isolate/session/program_calls.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/wait_word.h"

namespace hpcrun {

namespace {

// The delay if a request signal is lost because the user has more signals queued than RLIMIT_SIGPENDING, and
// until it is noticed that the converted thread was killed.
constexpr timespec kLookInterval{0, 100'000'000};

int take_signal(uint64_t signals, siginfo_t& info, const timespec& at_most) noexcept {
  return static_cast<int>(raw_syscall(SYS_rt_sigtimedwait, reinterpret_cast<long>(&signals),
                                      reinterpret_cast<long>(&info), reinterpret_cast<long>(&at_most),
                                      sizeof signals));
}

// Sends a signal again. One that kill() sent goes to the process, for any thread to take: this thread may be
// about to block it, and to end. So do others that the thread blocks, unless they were sent to a thread. The
// rest goes to this thread.
void send_again(const ThreadRecord& record, const siginfo_t& info) noexcept {
  const bool is_blocked = record.program_mask.load() & signal_bit(info.si_signo);
  const bool may_be_others = info.si_code == SI_USER || (is_blocked && info.si_code != SI_TKILL);
  resend_signal(info, may_be_others ? 0 : record.tid.load());
}

[[noreturn]] void die_by(int signal) noexcept {
  if (signal != SIGKILL) {
    const KernelAction by_default;
    kernel_action(signal, &by_default, nullptr);
  }
  raw_syscall(SYS_tgkill, sys_getpid(), sys_gettid(), signal);
  set_kernel_mask(kAllSignals & ~signal_bit(signal));
  raw_syscall(SYS_kill, sys_getpid(), SIGKILL);
  for (;;) raw_syscall(SYS_exit_group, 128 + signal);
}

void on_program_signal(ThreadRecord& record, const siginfo_t& info) noexcept {
  const int signal = info.si_signo;
  if (is_ignored(signal)) return;
  if (has_default_action(signal)) {
    send_again(record, info);
    set_kernel_mask(kAllSignals & ~signal_bit(signal));  // stops or ends the whole process
    set_kernel_mask(kAllSignals);
    return;
  }
  record.held = info;
  record.holds_signal = true;
  ask_back(record);
}

// True if a signal is pending that the program does not block any more.
bool has_signal_for(const ThreadRecord& record) noexcept {
  if (record.holds_signal) return true;
  uint64_t pending = 0;
  raw_syscall(SYS_rt_sigpending, reinterpret_cast<long>(&pending), sizeof pending);
  pending &= ~record.program_mask.load() & ~own_signal_bits() & ~sample_signal_bit();
  for (; pending; pending &= pending - 1)
    if (!is_ignored(__builtin_ctzll(pending) + 1)) return true;
  return false;
}

void answer(ThreadRecord& record) noexcept {
  record.call.result =
      record.call.number == kMaskChanged ? has_signal_for(record) : call_in_program(record.call);
  record.order.store(Order::None, std::memory_order_release);
  wake_all(record.order);
}

// Waits for an ended process, so that its number becomes free. Only one thread does this.
void reap(ThreadRecord& record, int process, bool wait) noexcept {
  constexpr int kOfAnyKind = 0x40000000;  // __WALL
  if (!record.process.compare_exchange_strong(process, -process)) return;
  const long result = raw_syscall(SYS_wait4, process, 0, kOfAnyKind | (wait ? 0 : WNOHANG), 0);
  record.process.store(result == 0 || result == -EINTR ? process : 0);
}

// Returns the status of an ended process without reaping it.
bool has_ended(int process, siginfo_t& info) noexcept {
  constexpr int kOfAnyKind = 0x40000000;
  info.si_pid = 0;
  return raw_syscall(SYS_waitid, P_PID, process, reinterpret_cast<long>(&info),
                     WEXITED | WNOHANG | WNOWAIT | kOfAnyKind, 0) == 0 &&
         info.si_pid == process;
}

}  // namespace

void stay_parked(ThreadRecord& record, int process) noexcept {
  // Only this thread stores it. Otherwise it could be stored after the process has ended and its number
  // belongs to another one. An earlier request for the thread had no number to send to.
  record.process.store(process);
  if (record.asked_back.load()) ask_back_again(record);
  const uint64_t request = signal_bit(session.request_signal);
  for (;;) {
    const Order order = record.order.load(std::memory_order_acquire);
    if (order == Order::Leave) break;
    if (order == Order::Call) {
      answer(record);
      continue;
    }
    const uint64_t program = record.holds_signal ? 0 : ~record.program_mask.load() & ~sample_signal_bit();
    siginfo_t info;
    const int signal = take_signal((program & ~kFaultSignals) | request, info, kLookInterval);
    if (signal > 0 && !(signal_bit(signal) & request)) on_program_signal(record, info);
    if (signal == -EAGAIN) reap_converted_thread(record);
  }
  record.where.store(Where::Home);
  stack_t& stack = record.handler_stack;
  stack.ss_flags &= SS_DISABLE;
  raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(&stack), 0);
  if (record.holds_signal) {
    record.holds_signal = false;
    send_again(record, record.held);
  }
}

void wake_original(ThreadRecord& record, Order order) noexcept {
  record.order.store(order, std::memory_order_release);
  raw_syscall(SYS_tgkill, session.pid, record.tid.load(), session.request_signal);
}

long call_by_original(const SystemCall& call) noexcept {
  ThreadRecord& record = *this_record();
  record.call = call;
  converted_thread_counts().calls_by_original.fetch_add(1, std::memory_order_relaxed);
  wake_original(record, Order::Call);
  while (record.order.load(std::memory_order_acquire) == Order::Call)
    wait_while(record.order, Order::Call, kLongWaitNs);
  return record.call.result;
}

void reap_converted_thread(ThreadRecord& record) noexcept {
  const int process = record.process.load();
  siginfo_t info;
  if (process <= 0 || session.ending.load()) return;
  if (record.where.load() == Where::Home || record.order.load() == Order::Leave)
    return reap(record, process, false);
  if (!has_ended(process, info)) return;
  if (record.order.load() == Order::Leave || record.process.load() != process) return;
  if (info.si_code == CLD_EXITED) raw_syscall(SYS_exit_group, info.si_status);
  die_by(info.si_status);
}

void await_end_of_converted_thread(ThreadRecord& record) noexcept {
  for (int process; (process = record.process.load()) != 0;) {
    if (process > 0)
      reap(record, process, true);
    else
      raw_syscall(SYS_sched_yield);
  }
}

void kill_converted_threads() noexcept {
  session.ending.store(true);
  for_each_record([](ThreadRecord& record) {
    const int process = record.process.load();
    if (process <= 0) return;
    raw_syscall(SYS_kill, process, SIGKILL);
    reap(record, process, true);
  });
}

}  // namespace hpcrun
