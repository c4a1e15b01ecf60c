#include "hpcrun/signals/virtual_signals.h"

#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/hooks.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/signals/cut_files.h"
#include "hpcrun/signals/processor_state.h"

HPCRUN_NEXT_OF(sigaction);

namespace hpcrun {

namespace {

constexpr int kSignals = 64;
constexpr SignalMask kAll = ~SignalMask{0};
// A fault while these are blocked would kill the program before its own handler runs.
constexpr SignalMask kFaults = mask_of(SIGSEGV) | mask_of(SIGBUS) | mask_of(SIGILL) | mask_of(SIGFPE);

constinit std::atomic<SignalMask> owned{0};
constinit std::atomic<SignalMask> released{0};

// A virtual action is read in handlers of any thread while another thread changes it. The number of changes
// selects the valid one of the two copies, and shows a reader if it has changed again. Therefore a fork at
// any time leaves a complete copy.
struct ActionSlot {
  std::atomic<uint32_t> changes{0};
  struct sigaction copies[2] = {};
};
constinit ActionSlot actions[kSignals];  // used by a constructor: must not be initialised after it
// Writers hold it with all signals blocked, so that no handler of the same thread can wait for it.
constinit std::atomic_flag writing;

constinit thread_local SignalMask blocked_here = 0;

template <typename Use>
void for_each_signal(SignalMask signals, Use use) noexcept {
  for (; signals; signals &= signals - 1) use(__builtin_ctzll(signals) + 1);
}

SignalMask kernel_mask(int how, SignalMask set) noexcept {
  SignalMask old = 0;
  raw_syscall(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&set), reinterpret_cast<long>(&old),
              sizeof set);
  return old;
}

// Delivered as soon as the thread has the signal unblocked in the kernel.
void send_here(const siginfo_t& info) noexcept {
  resend_signal(info, sys_gettid());
}

void send_pending(SignalMask signals) noexcept {
  siginfo_t info;
  for_each_signal(signals, [&](int signal) {
    while (take_pending(signal, info)) send_here(info);
  });
}

SignalMask deliverable_here() noexcept {
  return pending_here() & ~blocked_here;
}

void deliver_unblocked() noexcept {
  for_each_signal(deliverable_here(), [](int signal) { wake(sys_gettid(), signal); });
}

// True if the instruction itself raised the signal (int3, single step, an access past the end of a file). The
// kernel kills the process rather than block or ignore such a signal.
bool is_synchronous(int signal, const siginfo_t& info) noexcept {
  if (signal == SIGBUS) return info.si_code > 0 && info.si_code != BUS_MCEERR_AO;
  return signal == SIGTRAP && info.si_code > 0 && info.si_code != kTrapPerf;
}

void die_of(int signal, const siginfo_t& info) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  HPCRUN_NEXT(sigaction)(signal, &action, nullptr);
  send_here(info);  // delivered as our handler returns
}

void call_handler(int signal, const struct sigaction& action, siginfo_t& info, ucontext_t& context) noexcept {
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(signal, &info, &context);
  else
    action.sa_handler(signal);
}

SignalMask blocked_in_handler(int signal, const struct sigaction& action) noexcept {
  return to_bits(action.sa_mask) | (action.sa_flags & SA_NODEFER ? 0 : mask_of(signal));
}

// Calls the program's handler as the kernel would: the context, which the handler may edit, contains the mask
// to return with.
void call_program(int signal, const struct sigaction& action, siginfo_t& info, ucontext_t& context,
                  InterruptedState& state) noexcept {
  if (action.sa_flags & static_cast<int>(SA_RESETHAND)) {
    struct sigaction reset {};
    reset.sa_handler = SIG_DFL;
    set_virtual_action(signal, reset);
  }
  const SignalMask interrupted = to_bits(context.uc_sigmask);
  set_bits(context.uc_sigmask, (interrupted & ~held_signals()) | blocked_here);
  const SignalMask asked = blocked_in_handler(signal, action);
  blocked_here |= asked & held_signals();

  kernel_mask(SIG_SETMASK, (interrupted | asked) & ~held_signals());
  leave_own_state(state);
  call_handler(signal, action, info, context);
  enter_own_state(state);
  kernel_mask(SIG_SETMASK, kAll & ~kFaults);

  const SignalMask returned = to_bits(context.uc_sigmask);
  blocked_here = returned & held_signals();
  // Owned signals that were blocked around a waiting call are blocked again.
  set_bits(context.uc_sigmask, (returned & ~held_signals()) | (interrupted & held_signals()));
  deliver_unblocked();
}

// Not inlined into the handler: samples would have its frame on the stack, too.
[[gnu::noinline]] void forward(int signal, siginfo_t& info, ucontext_t& context,
                               InterruptedState& state) noexcept {
  if (is_wake_up(info)) return;
  if (in_unmeasured_child()) {
    set_bits(context.uc_sigmask, to_bits(context.uc_sigmask) | blocked_here);
    return send_here(info);
  }
  const struct sigaction action = virtual_action(signal);
  const bool blocked = blocked_here & mask_of(signal);
  if (!blocked && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL)
    return call_program(signal, action, info, context, state);
  if (is_synchronous(signal, info)) return die_of(signal, info);
  if (blocked && !(held_signals() & mask_of(signal))) {
    // The signal was released while this thread had it blocked: applies that now, and lets the kernel choose
    // a thread that may take it.
    set_bits(context.uc_sigmask, to_bits(context.uc_sigmask) | mask_of(signal));
    return resend_signal(info);
  }
  if (blocked) {
    put_pending(info, info.si_code == SI_TKILL ? sys_gettid() : 0);
    // If it was released meanwhile, the releasing thread may have checked for pending signals before.
    if (!(held_signals() & mask_of(signal))) give_pending_to_kernel(signal);
    return;
  }
  if (action.sa_handler == SIG_IGN) return;
  die_of(signal, info);
}

// Delivers a signal that was stored for this thread. Its wake-up may have been merged with one of our
// samples, which arrived first.
[[gnu::noinline]] void deliver(int signal, ucontext_t& context, InterruptedState& state) noexcept {
  siginfo_t info;
  if (in_unmeasured_child() || !take_pending(signal, info)) return;
  // Delivers the next one after this, or when its handler jumps away.
  if (deliverable_here() & mask_of(signal)) wake(sys_gettid(), signal);
  forward(signal, info, context, state);
}

// Handles a signal in a thread whose thread-local variables cannot be found, such as a thread that the
// program created by clone(2) with its own memory for them. A sample is dropped. The program gets its own
// signals according to the action alone.
[[gnu::noinline]] void pass_on(int signal, siginfo_t& info, ucontext_t& context) noexcept {
  const bool is_of_descriptor = signal != SIGTRAP && (info.si_code == POLL_IN || info.si_code == POLL_HUP);
  if (is_of_descriptor ? signal == process_state.timer_signal : is_our_sample(signal, info)) return;
  const struct sigaction action = virtual_action(signal);
  if (action.sa_handler == SIG_IGN && !is_synchronous(signal, info)) return;
  if (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL) return die_of(signal, info);
  kernel_mask(SIG_SETMASK,
              (to_bits(context.uc_sigmask) | blocked_in_handler(signal, action)) & ~held_signals());
  call_handler(signal, action, info, context);
}

void on_signal(int signal, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  InterruptedState state;
  if (!enter_own_state(state)) [[unlikely]] {
    leave_own_state(state);
    return pass_on(signal, *info, context);
  }
  const int saved_errno = errno;
  const bool is_ours = handle_sample_signal(signal, *info, &context) || survive_cut_file(*info);
  if (!is_ours) forward(signal, *info, context, state);
  if (deliverable_here() & mask_of(signal)) [[unlikely]]
    deliver(signal, context, state);
  errno = saved_errno;
  const auto return_from_handler = conversion_calls.return_from_handler.load(std::memory_order_acquire);
  leave_own_state(state);
  if (is_ours && return_from_handler) return_from_handler(&context);
}

// Installs the handler. If the program's handler has no SA_RESTART, its signal must interrupt system calls,
// so ours has none either. A timer signal that raises samples keeps SA_RESTART until it is released.
void install(int signal) noexcept {
  const struct sigaction program = virtual_action(signal);
  if (program.sa_handler == SIG_IGN && !(held_signals() & mask_of(signal))) {
    // Released: the kernel keeps or discards pending signals, according to the program's own action.
    HPCRUN_NEXT(sigaction)(signal, &program, nullptr);
    return;
  }
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  const bool has_handler = program.sa_handler != SIG_DFL && program.sa_handler != SIG_IGN;
  const bool may_interrupt = signal == SIGTRAP || signal == SIGBUS || !(held_signals() & mask_of(signal));
  if (may_interrupt && has_handler && !(program.sa_flags & SA_RESTART)) action.sa_flags &= ~SA_RESTART;
  // Includes the C library's own signals, which sigfillset() omits: a cancellation must not unwind the
  // runtime.
  set_bits(action.sa_mask, kAll & ~kFaults);
  HPCRUN_NEXT(sigaction)(signal, &action, nullptr);
}

struct sigaction kernel_action(int signal) noexcept {
  struct sigaction action {};
  HPCRUN_NEXT(sigaction)(signal, nullptr, &action);
  return action;
}

// Returns true if the kernel has our handler. Returns false also if a library that was loaded before ours,
// such as a sanitizer's, has installed one in between: kernel_action() passes through it.
HPCRUN_FORK_PATH bool is_handled_here(int signal) noexcept {
  struct {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    SignalMask mask;
  } action{};
  raw_syscall(SYS_rt_sigaction, signal, 0, reinterpret_cast<long>(&action), sizeof action.mask);
  return action.handler == on_signal;
}

// Replaces our handler by the virtual actions. Returns the signals for which it did.
SignalMask show_actions(bool only_ignored) noexcept {
  SignalMask shown = 0;
  for_each_signal(owned_signals(), [&](int signal) {
    const struct sigaction action = virtual_action(signal);
    if (only_ignored && action.sa_handler != SIG_IGN) return;
    if (kernel_action(signal).sa_sigaction != on_signal) return;
    HPCRUN_NEXT(sigaction)(signal, &action, nullptr);
    shown |= mask_of(signal);
  });
  return shown;
}

}  // namespace

void own_signals(SignalMask signals) noexcept {
  for_each_signal(signals, [](int signal) {
    const struct sigaction found = kernel_action(signal);
    const SignalMask before = owned.fetch_or(mask_of(signal), std::memory_order_release);
    // A signal that was released may have been the program's since, or may still have our handler.
    const bool is_handled = (before & mask_of(signal)) && found.sa_sigaction == on_signal;
    const bool was_released = released.fetch_and(~mask_of(signal)) & mask_of(signal);
    if (!(before & mask_of(signal)) || (was_released && !is_handled)) set_virtual_action(signal, found);
  });
  adopt_kernel_mask();
}

HPCRUN_FORK_PATH SignalMask owned_signals() noexcept {
  return owned.load(std::memory_order_acquire);
}

HPCRUN_FORK_PATH SignalMask held_signals() noexcept {
  return owned_signals() & ~released.load(std::memory_order_acquire);
}

void release_signal(int signal) noexcept {
  released.fetch_or(mask_of(signal), std::memory_order_release);
  if (kernel_action(signal).sa_sigaction == on_signal) install(signal);
  virtual_blocked();
  give_pending_to_kernel(signal);
}

int unused_realtime_signal(SignalMask but_not) noexcept {
  for (int signal = SIGRTMAX - 1; signal >= SIGRTMIN; --signal) {
    if ((owned_signals() | but_not) & mask_of(signal)) continue;
    if (kernel_action(signal).sa_handler == SIG_DFL) return signal;
  }
  return 0;
}

HPCRUN_FORK_PATH void virtual_signals_after_fork() noexcept {
  if (writing.test()) writing.clear();
  pending_signals_after_fork();
  for_each_signal(owned_signals(), [](int signal) {
    if (is_handled_here(signal)) return;
    const struct sigaction found = kernel_action(signal);
    if (found.sa_sigaction == on_signal) return;
    set_virtual_action(signal, found);
    blocked_here &= ~mask_of(signal);
  });
  adopt_kernel_mask();
}

bool in_unmeasured_child() noexcept {
  if (!owned_signals() || process_state.is_restricted.load(std::memory_order_relaxed) ||
      sys_getpid() == process_state.pid)
    return false;
  if (show_actions(false)) kernel_mask(SIG_BLOCK, blocked_here);
  return true;
}

SignalMask virtual_blocked() noexcept {
  // Signals that were released since are blocked in the kernel from now on.
  if (const SignalMask late = blocked_here & ~held_signals()) {
    kernel_mask(SIG_BLOCK, late);
    blocked_here &= ~late;
  }
  return blocked_here;
}

CreatedMask::CreatedMask(const pthread_attr_t* attributes) noexcept {
  sigset_t mask;
  if (attributes && pthread_attr_getsigmask_np(attributes, &mask) == 0) return;
  inherited_.blocked = virtual_blocked();
  const SignalMask held = held_signals();
  kernel_before_ = kernel_mask(SIG_BLOCK, held);
  inherited_.opens = held & ~kernel_before_;
}

CreatedMask::~CreatedMask() {
  if (inherited_.opens) kernel_mask(SIG_SETMASK, kernel_before_);
}

void inherit_mask(const CreatedMask::Inherited& inherited) noexcept {
  blocked_here |= inherited.blocked;
  kernel_mask(SIG_UNBLOCK, inherited.opens);
  adopt_kernel_mask();
}

HPCRUN_FORK_PATH void adopt_kernel_mask() noexcept {
  const SignalMask held = held_signals();
  const SignalMask blocked = kernel_mask(SIG_BLOCK, 0) & held;
  if (!blocked) return;
  blocked_here |= blocked;  // first: one may be pending
  kernel_mask(SIG_UNBLOCK, blocked);
}

void set_virtual_action(int signal, const struct sigaction& action) noexcept {
  const SignalMask before = kernel_mask(SIG_SETMASK, kAll);
  while (writing.test_and_set(std::memory_order_acquire)) {
  }
  ActionSlot& slot = actions[signal - 1];
  const uint32_t changes = slot.changes.load(std::memory_order_relaxed) + 1;
  slot.copies[changes & 1] = action;
  slot.changes.store(changes, std::memory_order_release);
  install(signal);
  writing.clear(std::memory_order_release);
  if (action.sa_handler == SIG_IGN) remove_pending(signal);
  kernel_mask(SIG_SETMASK, before);
}

struct sigaction virtual_action(int signal) noexcept {
  const ActionSlot& slot = actions[signal - 1];
  for (;;) {
    const uint32_t before = slot.changes.load(std::memory_order_acquire);
    const struct sigaction action = slot.copies[before & 1];
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slot.changes.load(std::memory_order_relaxed) == before) return action;
  }
}

void set_virtual_blocked(SignalMask blocked) noexcept {
  blocked_here = blocked & held_signals();
  deliver_unblocked();
}

bool may_lose(int signal) noexcept {
  return signal > 0 && signal <= kSignals && (mask_of(signal) & held_signals() & kStandardSignals) &&
         !in_unmeasured_child();
}

bool send_virtually(const siginfo_t& info, int tid) noexcept {
  if (!put_pending(info, tid)) return false;
  if (wake(tid, info.si_signo) == 0) return true;
  remove_pending_of(info.si_signo, tid);
  return false;
}

VirtualMask::VirtualMask(SignalMask blocked) noexcept
    : blocked_before_(virtual_blocked()), kernel_before_(kernel_mask(SIG_BLOCK, held_signals())) {
  set_virtual_blocked(blocked);
}

void VirtualMask::end() noexcept {
  set_virtual_blocked(blocked_before_);
  kernel_mask(SIG_SETMASK, kernel_before_);
}

VirtualWait::VirtualWait(SignalMask waited) noexcept : waited_(waited & held_signals()) {
  begin_wait(waited_);
  kernel_before_ = kernel_mask(SIG_BLOCK, waited_);
}

void VirtualWait::end() noexcept {
  end_wait();
  kernel_mask(SIG_SETMASK, kernel_before_);
}

int VirtualWait::take(siginfo_t& info) noexcept {
  int taken = 0;
  for_each_signal(waited_ & pending_here(), [&](int signal) {
    if (!taken && take_pending(signal, info)) taken = signal;
  });
  return taken;
}

bool has_signals_to_show() noexcept {
  bool any = virtual_blocked();
  for_each_signal(owned_signals(), [&](int signal) { any |= virtual_action(signal).sa_handler == SIG_IGN; });
  return any;
}

ShownSignals::ShownSignals(bool with_pending) noexcept {
  if (in_unmeasured_child()) return;
  ignored_ = show_actions(true);
  blocked_ = virtual_blocked();
  if (!blocked_) return;
  kernel_mask(SIG_BLOCK, blocked_);
  if (with_pending) send_pending(blocked_);
}

ShownSignals::~ShownSignals() {
  for_each_signal(ignored_, install);
  if (blocked_) kernel_mask(SIG_UNBLOCK, blocked_);
}

}  // namespace hpcrun
