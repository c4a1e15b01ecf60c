#include "repair/isolate/session.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/blocked_signals.h"
#include "repair/isolate/clone_calls.h"
#include "repair/isolate/cpu_time.h"
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

// Whoever takes SIGSYS from the session waits until nobody is in the midst of this (await_changes()).
class Changing {
 public:
  Changing() noexcept { session.changing.fetch_add(1); }
  ~Changing() {
    session.changing.fetch_sub(1);
    wake_all(session.changing);
  }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
};

void await_changes() noexcept {
  for (uint32_t count; (count = session.changing.load()) != 0;)
    wait_while(session.changing, count, kWaitLong);
}

// False: the session did not come about.
bool enter_with_all(ucontext_t& context, uint32_t turn) noexcept {
  const Changing changing;
  if (session.phase.load() != Phase::Entering) return false;
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
void leave_with_all(ucontext_t& context, uint32_t turn) noexcept {
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

void on_request(int, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  ThreadRecord* record = this_record();
  const uint32_t turn = session.turns.load(std::memory_order_acquire);
  if (!is_in_session(record)) {
    if (session.phase.load() != Phase::Entering || sys_getpid() != session.pid) return;
    enter_with_all(context, turn);
    begin_call_again(context);
    // It may have been in a call since the session before, made as there was none.
    if ((record = this_record())) {
      ++record->own_interruptions;
      record->stop.store(1);
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
  if (session.phase.load() == Phase::Leaving) leave_with_all(context, turn);
  // What is made there has to be made in the program's process.
  if (record->wanted.exchange(0) && is_session_on() && !is_at_clone_site(context)) {
    set_mask_bits(context.uc_sigmask, convert_in_handler(mask_bits(context.uc_sigmask)));
    if (is_twin()) record->stop.store(1);  // a call that is about to be made is looked at again
  }
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
  session.changing.store(0);
  session.ending.store(false);
  session.watches_time.store(false);
  session.past_cpu_ns.store(0);
  session.phase.store(Phase::Off);
}

// Until every task of the process but this one is `settled`, it is sent the request signal once.
template <typename Settled>
bool gather(Settled settled) noexcept {
  static int asked[kMaxThreads];
  int asked_count = 0;
  const int self = sys_gettid();
  const uint64_t begin = monotonic_ns();
  for (;;) {
    bool all = true;
    const uint32_t arrived = session.arrived.load();
    const bool is_late = monotonic_ns() - begin > kPatience / 100;
    for_each_task([&](int tid) {
      if (tid == self || settled(tid)) return;
      if (is_late && is_dead_task(tid)) return;
      all = false;
      for (int i = 0; i < asked_count; ++i)
        if (asked[i] == tid) return;
      if (asked_count == static_cast<int>(kMaxThreads)) return session.failed.store(true);
      asked[asked_count++] = tid;
      if (session.phase.load() == Phase::Entering) note_call_of(tid);
      raw_syscall(SYS_tgkill, session.pid, tid, session.request_signal);
    });
    if (session.failed.load()) return false;
    if (all) return true;
    if (monotonic_ns() - begin > kPatience) return false;
    wait_while(session.arrived, arrived, kWaitShort);
  }
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

void enter_session_as_new_thread() noexcept {
  for (;;) {
    const uint32_t turn = session.turns.load(std::memory_order_acquire);
    const Phase phase = session.phase.load();
    if (phase == Phase::Off) return;
    if (phase != Phase::On) {
      wait_for_change_from(turn);
      continue;
    }
    ThreadRecord* record = this_record();
    if (record && record->tid.load() == sys_gettid()) return;  // entered with all, as it waited here
    const Changing changing;
    if (session.phase.load() != Phase::On) continue;
    // A thread that has another's thread-local memory, or no room: its futexes stay private.
    if (record || !enter_session()) {
      dispatch_calls(false);
      session.holds.fetch_add(1);
      return;
    }
    // Whoever ends the session from here on finds the thread in it.
    if (is_session_on()) return;
    dispatch_calls(false);
    this_record()->session.store(0);
    free_record(*this_record());
    set_this_record(nullptr);
  }
}

SessionStart begin_isolation(const SessionOptions& options) noexcept {
  const int pid = sys_getpid();
  if (this_record() && is_twin()) return SessionStart::AlreadyOn;
  start_afresh(pid);
  Phase off = Phase::Off;
  if (!session.phase.compare_exchange_strong(off, Phase::Entering)) return SessionStart::AlreadyOn;
  if (!text.bytes) dl_iterate_phdr(find_text, nullptr);
  session.request_signal = options.request_signal;
  session.moves_all = options.moves_all;
  session.sample_signals = options.sample_signals;
  session.hooks = options.hooks;
  session.sampling = options.sampling;
  session.failed.store(false);
  forget_calls();
  session.number.fetch_add(1);

  // A handler of the program's returns by a system call, which must not be dispatched before we can take it;
  // and no thread of the session may have one that blocks our signals.
  const uint64_t mask = set_kernel_mask(kHandlerMask);
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
  if (result != SessionStart::Done) {
    dispatch_calls(false);
    if (this_record()) this_record()->session.store(0);
    change_phase(Phase::Off);
    await_changes();
    show_own_signals();
  } else {
    change_phase(Phase::On);
  }
  set_kernel_mask(result == SessionStart::Done ? mask & ~own_signal_bits() : mask);
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
  Phase on = Phase::On;
  bring_all_home();
  bool done = false;
  if (session.phase.compare_exchange_strong(on, Phase::Leaving)) {
    self->session.store(0);
    done = gather([](int tid) { return !is_in_session(record_of(tid)); });
    if (done) {
      dispatch_calls(false);
      mask |= self->hidden_mask;
      for_each_record([](ThreadRecord& record) { await_end_of_twin(record); });
      if (session.watches_time.exchange(false)) release_twins();
      change_phase(Phase::Off);
      await_changes();
      show_own_signals();
    } else {
      self->session.store(session.number.load());
      change_phase(Phase::On);
    }
  }
  release_twins();
  set_kernel_mask(mask);
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
