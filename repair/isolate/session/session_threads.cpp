// The part of a thread in the session (session.h): as it begins and ends, and at every request.

#include <ucontext.h>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/clone_calls.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/interrupted_calls.h"
#include "repair/isolate/session/program_actions.h"
#include "repair/isolate/session/session_phases.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/stop_all_threads.h"
#include "repair/isolate/session/switch.h"
#include "repair/isolate/session/thread_record.h"
#include "repair/isolate/session/trapped_calls.h"

namespace hpcrun {

namespace {

void leave_session(ucontext_t& context) noexcept {
  ThreadRecord& record = *this_record();
  dispatch_calls(false);
  record.begun_again_pc = 0;
  set_mask_bits(context.uc_sigmask, mask_bits(context.uc_sigmask) | record.hidden_mask);
  record.hidden_mask = 0;
}

void stay_stopped(ThreadRecord& record, uint32_t turn) noexcept {
  const uint64_t mask = set_kernel_mask(kAllSignals);
  hpcrun_stay_stopped(&record.is_stopped, &session.turns, turn);
  record.is_stopped.store(0);
  set_kernel_mask(mask);
}

// Returns the current phase and the turn with which it ends. Called by a thread that is counted as entering
// or leaving, which observes that end before another phase begins (PhaseChange).
Phase phase_of_turn(uint32_t& turn) noexcept {
  for (;;) {
    turn = session.turns.load(std::memory_order_acquire);
    const Phase phase = session.phase.load();
    if (turn == session.turns.load(std::memory_order_acquire)) return phase;
  }
}

// Returns false if no session began.
bool enter_with_all(ucontext_t& context) noexcept {
  const Counted entering(session.entering);
  uint32_t turn;
  if (phase_of_turn(turn) != Phase::Entering) return false;
  if (!enter_session()) {
    session.failed.store(true);
    arrive();
    return false;
  }
  ThreadRecord& record = *this_record();
  const uint64_t mask = mask_bits(context.uc_sigmask);
  record.hidden_mask = mask & own_signal_bits();
  set_mask_bits(context.uc_sigmask, mask & ~own_signal_bits());
  arrive();
  if (session.moves_all)
    stay_stopped(record, turn);
  else
    wait_for_change_from(turn);
  if (is_session_on()) return true;
  record.session.store(0);
  leave_session(context);
  return false;
}

// From here on handlers that interrupt this one may block SIGSYS again: nothing is dispatched any more.
void leave_with_all(ucontext_t& context) noexcept {
  const Counted leaving(session.leaving);
  uint32_t turn;
  if (phase_of_turn(turn) != Phase::Leaving) return;
  ThreadRecord& record = *this_record();
  dispatch_calls(false);
  record.session.store(0);
  arrive();
  wait_for_change_from(turn);
  if (is_session_on()) {
    record.session.store(session.number.load());
    dispatch_calls(true);
    return;
  }
  record.stop.store(1);
  leave_session(context);
}

// A call of the program that is about to be made or restarted is checked again first.
bool stop_passed_call(ucontext_t& context) noexcept {
  auto& at = context.uc_mcontext.gregs[REG_RIP];
  if (at < reinterpret_cast<intptr_t>(hpcrun_passed_call_begin) ||
      at >= reinterpret_cast<intptr_t>(hpcrun_passed_call_end))
    return false;
  at = reinterpret_cast<intptr_t>(hpcrun_passed_call_stopped);
  return true;
}

// The same for calls that handlers of the program have interrupted. When these handlers return, the kernel
// restarts the calls with arguments from the previous session. Their frames lie between here and the
// outermost call; frames of handlers on an alternate stack are not found.
void stop_interrupted_calls(const ThreadRecord& record, const ucontext_t& context) noexcept {
  constexpr uintptr_t kMaxBytes = 64 * 1024;
  const auto low = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]) & ~(sizeof(greg_t) - 1);
  const uintptr_t high = record.passed_calls;
  if (high <= low || high - low > kMaxBytes) return;
  const auto begin = reinterpret_cast<greg_t>(hpcrun_passed_call_begin);
  const auto end = reinterpret_cast<greg_t>(hpcrun_passed_call_end);
  static_assert(REG_RIP == REG_RSP + 1);
  for (auto* at = reinterpret_cast<greg_t*>(low); at < reinterpret_cast<greg_t*>(high); ++at) {
    const auto stack = static_cast<uintptr_t>(at[0]);
    if (at[1] >= begin && at[1] < end && stack > reinterpret_cast<uintptr_t>(at) && stack <= high)
      at[1] = reinterpret_cast<greg_t>(hpcrun_passed_call_stopped);
  }
}

void on_request(int, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  ThreadRecord* record = this_record();
  if (!is_in_session(record)) {
    if (session.phase.load() != Phase::Entering || sys_getpid() != session.pid) return;
    if (session.moves_all && session.hooks.ends_call_first && session.hooks.ends_call_first()) return;
    enter_with_all(context);
    begin_call_again(context);
    // It may have been in a call since the previous session, made while there was none.
    if ((record = this_record())) {
      ++record->own_interruptions;
      record->stop.store(1);
      stop_interrupted_calls(*record, context);
    }
    stop_passed_call(context);
    return;
  }
  ++record->own_interruptions;
  if (is_converted()) {
    if (info->si_code == SI_TIMER) stop_with_program(*record);
    const bool is_in_call = stop_passed_call(context) || record->in_trap;
    if (!was_asked_back() && session.hooks.asked) session.hooks.asked(context);
    if (is_in_call || !was_asked_back() || calls_pass()) return;  // the request is repeated
    if (session.hooks.is_busy && session.hooks.is_busy()) return;
    set_mask_bits(context.uc_sigmask, give_back_in_handler(Leaving::Asked));
    return;
  }
  if (session.phase.load() == Phase::Leaving) leave_with_all(context);
  // A child that is created there must be created in the program's process.
  if (record->wanted.exchange(0) && is_session_on() && !is_at_clone_site(context)) {
    set_mask_bits(context.uc_sigmask, convert_in_handler(mask_bits(context.uc_sigmask)));
    if (is_converted()) record->stop.store(1);  // a call that is about to be made is checked again
  }
  stop_interrupted_calls(*record, context);
  stop_passed_call(context);
}

}  // namespace

void install_handlers() noexcept {
  KernelAction request;
  request.handler = reinterpret_cast<void*>(on_request);
  request.flags = SA_SIGINFO | SA_RESTART | kRestorerFlag;
  request.restorer = reinterpret_cast<void*>(hpcrun_signal_return);
  request.mask = kHandlerMask;
  kernel_action(session.request_signal, &request, nullptr);
  install_trap_handler();
}

void stop_now() noexcept {
  if (session.phase.load() == Phase::Entering && sys_getpid() == session.pid)
    raw_syscall(SYS_tgkill, session.pid, sys_gettid(), session.request_signal);
}

bool is_in_session(const ThreadRecord* record) noexcept {
  if (!record) return false;
  const uint32_t entered = record->session.load();
  return entered && entered == session.number.load();
}

bool enter_session() noexcept {
  const int tid = sys_gettid();
  ThreadRecord* record = this_record();
  if (!record || record->tid.load() != tid) record = take_record(tid);
  if (!record) return false;
  set_this_record(record);
  if (!dispatch_calls(true)) return false;
  record->session.store(session.number.load());
  return true;
}

namespace {

// Must be called with all signals blocked: a request in between would make the thread enter, and this would
// undo it. Returns false to try again.
bool enter_alone() noexcept {
  ThreadRecord* record = this_record();
  // It entered with all others while it waited, and may be converted since.
  if (record && (record->tid.load() == sys_gettid() || sys_getpid() != session.pid)) return true;
  const Counted entering(session.entering);
  if (session.phase.load() != Phase::On) return false;
  // A thread that uses another one's thread-local memory, or has no room: its futexes stay private.
  if (record || !enter_session()) {
    dispatch_calls(false);
    session.holds.fetch_add(1);
    return true;
  }
  // A thread that ends the session from here on finds this one in it.
  if (is_session_on()) return true;
  dispatch_calls(false);
  record = this_record();
  record->session.store(0);
  set_this_record(nullptr);
  free_record(*record);
  return false;
}

}  // namespace

void enter_session_as_new_thread() noexcept {
  for (bool has_entered = false; !has_entered;) {
    const uint32_t turn = session.turns.load(std::memory_order_acquire);
    const Phase phase = session.phase.load();
    if (phase == Phase::Off) return;
    if (phase != Phase::On) {
      wait_for_change_from(turn);
      continue;
    }
    const uint64_t mask = set_kernel_mask(kAllSignals);
    has_entered = enter_alone();
    set_kernel_mask(mask);
  }
}

}  // namespace hpcrun
