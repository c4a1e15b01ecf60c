#include "hpcrun/process/virtual_signals.h"

#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/process/next.h"
#include "hpcrun/sample/handler.h"

HPCRUN_NEXT_OF(sigaction);

namespace hpcrun {

namespace {

constexpr int kSignals = 64;
constexpr SignalMask kAll = ~SignalMask{0};

SignalMask owned = 0;
std::atomic<SignalMask> released{0};

// A virtual action is read in handlers of any thread while another changes it: a sequence lock, whose writer
// blocks all signals so that no handler of its own thread can wait for it.
struct ActionSlot {
  std::atomic<uint32_t> sequence{0};
  struct sigaction action;
};
ActionSlot actions[kSignals];
std::atomic_flag writing;

// The thread that sits in sigwait() for a signal, 0 if none, and what is handed to it. The kernel refuses to
// send another thread a siginfo that looks like its own (si_code >= 0), so a marked one is sent and this is
// read.
std::atomic<int> waiter[kSignals];
siginfo_t handed_over[kSignals];

struct ThreadSignals {
  SignalMask blocked;
  SignalMask pending;
  // Stack pointer at which the program's handler of an owned signal was called: the signal counts as blocked
  // while deeper code runs. Left by longjmp, the stack pointer is above it again.
  uint64_t handler_sp[kSignals];
  siginfo_t info[2];  // of a pending SIGTRAP, and of any other
};
thread_local ThreadSignals thread_signals;

siginfo_t& pending_info(int signal) noexcept {
  return thread_signals.info[signal == SIGTRAP ? 0 : 1];
}

SignalMask kernel_mask(int how, SignalMask set) noexcept {
  SignalMask old = 0;
  raw_syscall(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&set), reinterpret_cast<long>(&old),
              sizeof set);
  return old;
}

void send_to(int tid, int signal, const siginfo_t& info) noexcept {
  raw_syscall(SYS_rt_tgsigqueueinfo, sys_getpid(), tid, signal, reinterpret_cast<long>(&info));
}

void hand_to_waiter(int tid, int signal, const siginfo_t& info) noexcept {
  handed_over[signal - 1] = info;
  siginfo_t marked{};
  marked.si_signo = signal;
  marked.si_code = SI_QUEUE;
  marked.si_value.sival_ptr = &handed_over[signal - 1];
  send_to(tid, signal, marked);
}

// Raised by the instruction itself (int3, single step): the kernel kills rather than block or ignore these.
bool is_synchronous(int signal, const siginfo_t& info) noexcept {
  return signal == SIGTRAP && info.si_code > 0 && info.si_code != kTrapPerf;
}

void die_of(int signal, const siginfo_t& info) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  HPCRUN_NEXT(sigaction)(signal, &action, nullptr);
  send_to(sys_gettid(), signal, info);  // delivered as our handler returns
}

void call_program(int signal, const struct sigaction& action, siginfo_t& info, ucontext_t& context) noexcept {
  ThreadSignals& self = thread_signals;
  const SignalMask blocked_before = self.blocked;
  const SignalMask asked = to_bits(action.sa_mask);
  if (action.sa_flags & SA_RESETHAND) {
    struct sigaction reset {};
    reset.sa_handler = SIG_DFL;
    set_virtual_action(signal, reset);
  }
  uint64_t stack_pointer;
  asm volatile("mov %%rsp, %0" : "=r"(stack_pointer));
  const uint64_t outer_sp = self.handler_sp[signal - 1];
  if (!(action.sa_flags & SA_NODEFER)) self.handler_sp[signal - 1] = stack_pointer;
  self.blocked |= asked & held_signals();

  const SignalMask interrupted = to_bits(context.uc_sigmask);
  kernel_mask(SIG_SETMASK, (interrupted | asked) & ~held_signals());
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(signal, &info, &context);
  else
    action.sa_handler(signal);
  kernel_mask(SIG_SETMASK, kAll & ~(mask_of(SIGSEGV) | mask_of(SIGBUS)));

  self.handler_sp[signal - 1] = outer_sp;
  // The handler may have edited the mask to return with.
  const SignalMask returned = to_bits(context.uc_sigmask);
  self.blocked = blocked_before | (returned & held_signals());
  const SignalMask kept = returned & ~held_signals();
  memcpy(&context.uc_sigmask, &kept, sizeof kept);
}

bool is_blocked(int signal) noexcept {
  ThreadSignals& self = thread_signals;
  if (self.blocked & mask_of(signal)) return true;
  uint64_t stack_pointer;
  asm volatile("mov %%rsp, %0" : "=r"(stack_pointer));
  const uint64_t handler = self.handler_sp[signal - 1];
  return handler && stack_pointer < handler;
}

void forward(int signal, siginfo_t& info, ucontext_t& context) noexcept {
  const struct sigaction action = virtual_action(signal);
  const bool blocked = is_blocked(signal);
  const bool synchronous = is_synchronous(signal, info);
  if (!blocked && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL)
    return call_program(signal, action, info, context);
  if (synchronous) return die_of(signal, info);
  if (blocked && !(held_signals() & mask_of(signal))) {
    // Released while this thread had it blocked: catch up, and let the kernel find who may take it.
    const SignalMask mask = to_bits(context.uc_sigmask) | mask_of(signal);
    memcpy(&context.uc_sigmask, &mask, sizeof mask);
    if (raw_syscall(SYS_rt_sigqueueinfo, sys_getpid(), signal, reinterpret_cast<long>(&info)) < 0)
      raw_syscall(SYS_kill, sys_getpid(), signal);
    return;
  }
  if (blocked) {
    const int tid = waiter[signal - 1].load(std::memory_order_acquire);
    if (tid && tid != sys_gettid()) return hand_to_waiter(tid, signal, info);
    pending_info(signal) = info;
    thread_signals.pending |= mask_of(signal);
    return;
  }
  if (action.sa_handler == SIG_IGN) return;
  die_of(signal, info);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (!handle_sample_signal(signal, *info, context))
    forward(signal, *info, *static_cast<ucontext_t*>(context));
  errno = saved_errno;
}

// System calls that a signal of the program's would interrupt must be interrupted by ours as well, and no
// others.
void install(int signal) noexcept {
  const struct sigaction program = virtual_action(signal);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  const bool has_handler = program.sa_handler != SIG_DFL && program.sa_handler != SIG_IGN;
  if (signal == SIGTRAP && has_handler && !(program.sa_flags & SA_RESTART)) action.sa_flags &= ~SA_RESTART;
  sigfillset(&action.sa_mask);
  // A fault while these are blocked would kill the program before its own handler could look at it.
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigdelset(&action.sa_mask, fault);
  HPCRUN_NEXT(sigaction)(signal, &action, nullptr);
}

}  // namespace

void own_signals(SignalMask signals) noexcept {
  for (int signal = 1; signal <= kSignals; ++signal) {
    if (!(signals & ~owned & mask_of(signal))) continue;
    struct sigaction found {};
    if (HPCRUN_NEXT(sigaction)(signal, nullptr, &found) != 0) continue;
    owned |= mask_of(signal);
    set_virtual_action(signal, found);
  }
  thread_signals.blocked |= kernel_mask(SIG_UNBLOCK, owned) & owned;
}

SignalMask owned_signals() noexcept {
  return owned;
}

SignalMask held_signals() noexcept {
  return owned & ~released.load(std::memory_order_acquire);
}

void release_signal(int signal) noexcept {
  released.fetch_or(mask_of(signal), std::memory_order_release);
  ThreadSignals& self = thread_signals;
  if (self.blocked & mask_of(signal)) kernel_mask(SIG_BLOCK, mask_of(signal));
  self.blocked &= ~mask_of(signal);
}

SignalMask virtual_blocked() noexcept {
  return thread_signals.blocked;
}

void inherit_virtual_blocked(SignalMask blocked) noexcept {
  thread_signals.blocked = blocked;
}

void set_virtual_action(int signal, const struct sigaction& action) noexcept {
  const SignalMask before = kernel_mask(SIG_SETMASK, kAll);
  while (writing.test_and_set(std::memory_order_acquire)) {
  }
  ActionSlot& slot = actions[signal - 1];
  const uint32_t sequence = slot.sequence.load(std::memory_order_relaxed);
  slot.sequence.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  slot.action = action;
  slot.sequence.store(sequence + 2, std::memory_order_release);
  writing.clear(std::memory_order_release);
  install(signal);
  kernel_mask(SIG_SETMASK, before);
}

struct sigaction virtual_action(int signal) noexcept {
  const ActionSlot& slot = actions[signal - 1];
  for (;;) {
    const uint32_t before = slot.sequence.load(std::memory_order_acquire);
    const struct sigaction action = slot.action;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!(before & 1) && slot.sequence.load(std::memory_order_relaxed) == before) return action;
  }
}

bool set_virtual_blocked(SignalMask blocked) noexcept {
  ThreadSignals& self = thread_signals;
  self.blocked = blocked & held_signals();
  const SignalMask deliver = self.pending & ~self.blocked;
  if (!deliver) return false;
  self.pending &= ~deliver;
  for (int signal = 1; signal <= kSignals; ++signal)
    if (deliver & mask_of(signal)) send_to(sys_gettid(), signal, pending_info(signal));
  return true;
}

SignalMask virtual_pending() noexcept {
  return thread_signals.pending;
}

VirtualWait::VirtualWait(SignalMask waited) noexcept : waited_(waited & held_signals()) {
  if (!waited_) return;
  for (int signal = 1; signal <= kSignals; ++signal)
    if (waited_ & mask_of(signal)) waiter[signal - 1].store(sys_gettid(), std::memory_order_release);
  kernel_before_ = kernel_mask(SIG_BLOCK, waited_);
}

VirtualWait::~VirtualWait() {
  if (!waited_) return;
  for (int signal = 1; signal <= kSignals; ++signal)
    if (waited_ & mask_of(signal)) waiter[signal - 1].store(0, std::memory_order_release);
  kernel_mask(SIG_SETMASK, kernel_before_);
}

void VirtualWait::unwrap(siginfo_t& info) noexcept {
  const int index = info.si_signo - 1;
  if (info.si_code == SI_QUEUE && index >= 0 && index < kSignals &&
      info.si_value.sival_ptr == &handed_over[index])
    info = handed_over[index];
}

int VirtualWait::take_pending(siginfo_t& info) noexcept {
  ThreadSignals& self = thread_signals;
  for (int signal = 1; signal <= kSignals; ++signal) {
    if (!(waited_ & self.pending & mask_of(signal))) continue;
    self.pending &= ~mask_of(signal);
    info = pending_info(signal);
    return signal;
  }
  return 0;
}

}  // namespace hpcrun
