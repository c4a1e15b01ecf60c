#include "repair/isolate/session.h"

#include <link.h>
#include <ucontext.h>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/blocked_signals.h"
#include "repair/isolate/clone_calls.h"
#include "repair/isolate/cpu_time.h"
#include "repair/isolate/gather.h"
#include "repair/isolate/interrupted_calls.h"
#include "repair/isolate/parked.h"
#include "repair/isolate/program_actions.h"
#include "repair/isolate/signal_masks.h"
#include "repair/isolate/switch.h"
#include "repair/isolate/tasks.h"
#include "repair/isolate/thread_record.h"
#include "repair/isolate/trapped_calls.h"
#include "repair/isolate/twin.h"
#include "repair/isolate/wait_word.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

namespace hpcrun {

constinit Session session;

uint64_t own_signal_bits() noexcept {
  return signal_bit(SIGSYS) | (session.request_signal ? signal_bit(session.request_signal) : 0);
}

uint64_t sample_signal_bit() noexcept {
  const int* const signal = session.sampling.signal;
  return signal && *signal ? signal_bit(*signal) : 0;
}

// As a call that waits and that samples do not interrupt has it (hpcrun/sample/waiting.h), the signal of
// samples may be blocked.
uint64_t twin_mask() noexcept {
  const uint64_t sampling = sample_signal_bit() & ~this_record()->program_mask.load();
  return kAllSignals & ~own_signal_bits() & ~kFaultSignals & ~sampling &
         ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
}

namespace {

// What the kernel looks at before it dispatches a call (Linux, Documentation/admin-guide/
// syscall-user-dispatch.rst).
constexpr char kPasses = 0, kIsDispatched = 1;
constinit thread_local volatile char selector = kIsDispatched;

// Where the code of this library lies: calls from here are not dispatched.
struct Text {
  uintptr_t begin = 0;
  size_t bytes = 0;
};
constinit Text text;

int find_text(dl_phdr_info* module, size_t, void*) {
  const auto here = reinterpret_cast<uintptr_t>(hpcrun_clone_sites);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& header = module->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t begin = module->dlpi_addr + header.p_vaddr;
    if (here < begin || here >= begin + header.p_memsz) continue;
    text = {begin, header.p_memsz};
    return 1;
  }
  return 0;
}

// By what was read before the phase: it may have come back meanwhile.
void wait_for_change_from(uint32_t turn) noexcept {
  while (session.turns.load(std::memory_order_acquire) == turn) wait_while(session.turns, turn, kWaitLong);
}

void change_phase(Phase phase) noexcept {
  session.phase.store(phase, std::memory_order_release);
  session.turns.fetch_add(1, std::memory_order_release);
  wake_all(session.turns);
}

void arrive() noexcept {
  session.arrived.fetch_add(1, std::memory_order_release);
  wake_all(session.arrived);
}

void leave_session(ucontext_t& context) noexcept {
  ThreadRecord& record = *this_record();
  dispatch_calls(false);
  record.begun_again_pc = 0;
  set_mask_bits(context.uc_sigmask, mask_bits(context.uc_sigmask) | record.hidden_mask);
  record.hidden_mask = 0;
}

void stand_still(ThreadRecord& record, uint32_t turn) noexcept {
  const uint64_t mask = set_kernel_mask(kAllSignals);
  hpcrun_stand_still(&record.stands, &session.turns, turn);
  record.stands.store(0);
  set_kernel_mask(mask);
}

// Counts the thread in.
class Counted {
 public:
  explicit Counted(std::atomic<uint32_t>& among) noexcept : among_(among) { among_.fetch_add(1); }
  ~Counted() {
    among_.fetch_sub(1);
    wake_all(among_);
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<uint32_t>& among_;
};

void await_none(const std::atomic<uint32_t>& among) noexcept {
  for (uint32_t count; (count = among.load()) != 0;) wait_while(among, count, kWaitLong);
}

// One is made at a time, when all threads that waited for the end of the one before have seen it: otherwise
// one that is slow would take this for that. Who waits to make one takes part in those of others, by the
// request signal.
class PhaseChange {
 public:
  PhaseChange() noexcept {
    while (session.is_changing_phase.exchange(1)) wait_while(session.is_changing_phase, 1u, kWaitShort);
    await_none(session.entering);
    await_none(session.leaving);
  }
  ~PhaseChange() {
    session.is_changing_phase.store(0);
    wake_all(session.is_changing_phase);
  }
  PhaseChange(const PhaseChange&) = delete;
  PhaseChange& operator=(const PhaseChange&) = delete;
};

// With the turn that it ends with. Asked by a thread that is counted as entering or leaving, which sees that
// end before another phase is begun (PhaseChange).
Phase phase_of_turn(uint32_t& turn) noexcept {
  for (;;) {
    turn = session.turns.load(std::memory_order_acquire);
    const Phase phase = session.phase.load();
    if (turn == session.turns.load(std::memory_order_acquire)) return phase;
  }
}

// False: the session did not come about.
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
    stand_still(record, turn);
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

// A call of the program's that is about to be made, or to be made again, is looked at again instead.
bool stop_passed_call(ucontext_t& context) noexcept {
  auto& at = context.uc_mcontext.gregs[REG_RIP];
  if (at < reinterpret_cast<intptr_t>(hpcrun_passed_call_begin) ||
      at >= reinterpret_cast<intptr_t>(hpcrun_passed_call_end))
    return false;
  at = reinterpret_cast<intptr_t>(hpcrun_passed_call_stopped);
  return true;
}

// The same of calls that handlers of the program's have interrupted, which the kernel begins again when these
// return, with the arguments that the session before asked for. Their frames lie between here and the
// outermost call; those of handlers on a stack of their own are not found.
void stop_interrupted_calls(const ThreadRecord& record, const ucontext_t& context) noexcept {
  constexpr uintptr_t kMost = 64 * 1024;
  const auto low = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]) & ~(sizeof(greg_t) - 1);
  const uintptr_t high = record.passed_calls;
  if (high <= low || high - low > kMost) return;
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
    enter_with_all(context);
    begin_call_again(context);
    // It may have been in a call since the session before, made as there was none.
    if ((record = this_record())) {
      ++record->own_interruptions;
      record->stop.store(1);
      stop_interrupted_calls(*record, context);
    }
    stop_passed_call(context);
    return;
  }
  ++record->own_interruptions;
  if (is_twin()) {
    if (info->si_code == SI_TIMER) stop_with_program(*record);
    const bool is_in_call = stop_passed_call(context) || record->in_trap;
    if (!was_asked_back() && session.hooks.asked) session.hooks.asked();
    if (is_in_call || !was_asked_back() || do_calls_pass()) return;  // whoever asked does so again
    if (session.hooks.is_busy && session.hooks.is_busy()) return;
    set_mask_bits(context.uc_sigmask, give_back_in_handler(Leaving::Asked));
    return;
  }
  if (session.phase.load() == Phase::Leaving) leave_with_all(context);
  // What is made there has to be made in the program's process.
  if (record->wanted.exchange(0) && is_session_on() && !is_at_clone_site(context)) {
    set_mask_bits(context.uc_sigmask, convert_in_handler(mask_bits(context.uc_sigmask)));
    if (is_twin()) record->stop.store(1);  // a call that is about to be made is looked at again
  }
  stop_interrupted_calls(*record, context);
  stop_passed_call(context);
}

void install_handlers() noexcept {
  KernelAction request;
  request.handler = reinterpret_cast<void*>(on_request);
  request.flags = SA_SIGINFO | SA_RESTART | kRestorerFlag;
  request.restorer = reinterpret_cast<void*>(hpcrun_signal_return);
  request.mask = kHandlerMask;
  kernel_action(session.request_signal, &request, nullptr);
  install_trap_handler();
}

// In a forked child all is as in a process that never had a session.
void start_afresh(int pid) noexcept {
  if (session.pid == pid) return;
  for_each_record([](ThreadRecord& record) { free_record(record); });
  set_this_record(nullptr);
  session.pid = pid;
  session.holds.store(0);
  session.twins.store(0);
  session.entering.store(0);
  session.leaving.store(0);
  session.is_changing_phase.store(0);
  session.ending.store(false);
  session.watches_time.store(false);
  session.past_cpu_ns.store(0);
  session.phase.store(Phase::Off);
}

bool has_come(int tid) noexcept {
  const ThreadRecord* const record = record_of(tid);
  return is_in_session(record) && (!session.moves_all || record->stands.load());
}

}  // namespace

bool is_in_session(const ThreadRecord* record) noexcept {
  if (!record) return false;
  const uint32_t entered = record->session.load();
  return entered && entered == session.number.load();
}

bool dispatch_calls(bool on) noexcept {
  return raw_syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, on, on ? static_cast<long>(text.begin) : 0,
                     on ? static_cast<long>(text.bytes) : 0, on ? reinterpret_cast<long>(&selector) : 0) == 0;
}

bool let_calls_pass(bool passes) noexcept {
  const bool before = do_calls_pass();
  selector = passes ? kPasses : kIsDispatched;
  return before;
}

bool do_calls_pass() noexcept {
  return selector == kPasses;
}

void return_from_sample(void* context) noexcept {
  hpcrun_return_to(context);
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

// With all signals blocked: a request that came between would have the thread enter, and this would undo it.
// False: to be tried again.
bool enter_alone() noexcept {
  ThreadRecord* record = this_record();
  // Entered with all, as it waited before, and is a twin since, perhaps.
  if (record && (record->tid.load() == sys_gettid() || sys_getpid() != session.pid)) return true;
  const Counted entering(session.entering);
  if (session.phase.load() != Phase::On) return false;
  // A thread that has another's thread-local memory, or no room: its futexes stay private.
  if (record || !enter_session()) {
    dispatch_calls(false);
    session.holds.fetch_add(1);
    return true;
  }
  // Whoever ends the session from here on finds the thread in it.
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

namespace {

void tell_of_session(bool begins) noexcept {
  if (session.hooks.session) session.hooks.session(begins);
}

// `mask`: the thread's. It is left with kHandlerMask, where a session was tried.
SessionStart begin_phases(const SessionOptions& options, uint64_t mask) noexcept {
  Phase off = Phase::Off;
  if (!session.phase.compare_exchange_strong(off, Phase::Entering)) return SessionStart::AlreadyOn;
  if (!text.bytes) dl_iterate_phdr(find_text, nullptr);
  session.request_signal = options.request_signal;
  session.moves_all = options.moves_all;
  session.sample_signals = options.sample_signals;
  session.hooks = options.hooks;
  session.sampling = options.sampling;
  session.failed.store(false);
  tell_of_session(true);
  forget_calls();
  session.number.fetch_add(1);

  // A handler of the program's returns by a system call, which must not be dispatched before we can take it;
  // and no thread of the session may have one that blocks our signals.
  set_kernel_mask(kHandlerMask);
  hide_own_signals();
  install_handlers();
  SessionStart result = SessionStart::Done;
  if (!enter_session()) {
    result = this_record() ? SessionStart::NoDispatch : SessionStart::TooMany;
  } else if (reads_signals_from_descriptors()) {
    result = SessionStart::SignalReader;
  } else if (is_cpu_time_watched()) {
    result = SessionStart::WatchesTime;
  } else {
    this_record()->hidden_mask = mask & own_signal_bits();
    if (!gather(has_come))
      result = session.failed.load() ? SessionStart::TooMany : SessionStart::Unreachable;
    else if (is_cpu_time_watched())  // meanwhile
      result = SessionStart::WatchesTime;
    else if (session.hooks.all_stopped && !session.hooks.all_stopped())
      result = SessionStart::NotCommon;
    session.has_private_memory.store(false);
  }
  if (result == SessionStart::Done) {
    change_phase(Phase::On);
    return result;
  }
  dispatch_calls(false);
  if (this_record()) this_record()->session.store(0);
  change_phase(Phase::Off);
  await_none(session.entering);
  show_own_signals();
  tell_of_session(false);
  return result;
}

// With all signals but ours and faults blocked; `mask` is the thread's, which changes where the session ends.
bool end_phases(ThreadRecord& self, uint64_t& mask) noexcept {
  Phase on = Phase::On;
  if (!session.phase.compare_exchange_strong(on, Phase::Leaving)) return false;
  self.session.store(0);
  if (!gather([](int tid) noexcept { return !is_in_session(record_of(tid)); })) {
    self.session.store(session.number.load());
    change_phase(Phase::On);
    return false;
  }
  dispatch_calls(false);
  mask |= self.hidden_mask;
  for_each_record([](ThreadRecord& record) { await_end_of_twin(record); });
  if (session.watches_time.exchange(false)) release_twins();
  change_phase(Phase::Off);
  await_none(session.entering);
  show_own_signals();
  tell_of_session(false);
  return true;
}

}  // namespace

// Handlers of the program's, which may do the same, or jump, come before and after PhaseChange alone.
SessionStart begin_isolation(const SessionOptions& options) noexcept {
  const int pid = sys_getpid();
  if (this_record() && is_twin()) return SessionStart::AlreadyOn;
  start_afresh(pid);
  const uint64_t mask = set_kernel_mask(kHandlerMask & ~signal_bit(options.request_signal));
  SessionStart result;
  {
    const PhaseChange phase_change;
    if (session.phase.load() == Phase::Off) free_records_of_ended_threads();
    result = begin_phases(options, mask);
  }
  set_kernel_mask(is_in_session(this_record()) ? mask & ~own_signal_bits() : mask);
  return result;
}

bool end_isolation() noexcept {
  ThreadRecord* self = this_record();
  if (session.phase.load() == Phase::Off) return true;
  // No handler of the program's converts the thread meanwhile.
  uint64_t mask = set_kernel_mask(kAllSignals & ~own_signal_bits() & ~kFaultSignals);
  if (!self || is_twin() || sys_getpid() != session.pid) {
    set_kernel_mask(mask);
    return false;
  }
  bring_all_home();
  bool done;
  {
    const PhaseChange phase_change;
    done = end_phases(*self, mask);
  }
  release_twins();
  // It may have left with others, and has its own mask since.
  const uint64_t here = set_kernel_mask(kAllSignals);
  set_kernel_mask(is_in_session(self) ? mask : mask | (here & own_signal_bits()));
  return done || session.phase.load() == Phase::Off;
}

void begin_to_watch_time() noexcept {
  if (!session.watches_time.exchange(true)) bring_all_home();
}

void look_at_twins() noexcept {
  const BlockedSignals blocked;  // who waits for a twin's end as well spins meanwhile
  for_each_record(look_at_twin);
}

}  // namespace hpcrun
