#include "repair/isolate/session/session.h"

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/blocked_signals.h"
#include "repair/isolate/session/converted_thread.h"
#include "repair/isolate/session/cpu_time.h"
#include "repair/isolate/session/interrupted_calls.h"
#include "repair/isolate/session/parked.h"
#include "repair/isolate/session/program_actions.h"
#include "repair/isolate/session/session_phases.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/stop_all_threads.h"
#include "repair/isolate/session/tasks.h"
#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

constinit Session session;

uint64_t own_signal_bits() noexcept {
  return signal_bit(SIGSYS) | (session.request_signal ? signal_bit(session.request_signal) : 0);
}

uint64_t sample_signal_bit() noexcept {
  const int* const signal = session.sampling.signal;
  return signal && *signal ? signal_bit(*signal) : 0;
}

// The mask of a call that waits and that samples do not interrupt (hpcrun/sample/waiting.h) may contain the
// samples' signal.
uint64_t converted_mask() noexcept {
  const uint64_t sampling = sample_signal_bit() & ~this_record()->program_mask.load();
  return kAllSignals & ~own_signal_bits() & ~kFaultSignals & ~sampling &
         ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
}

namespace {

// Only one phase change is made at a time, after all threads that waited for the end of the previous one have
// noticed it: otherwise a slow thread could mistake one phase for the next. A thread that waits to make one
// takes part in those of others, through the request signal.
class PhaseChange {
 public:
  PhaseChange() noexcept {
    while (session.is_changing_phase.exchange(1)) wait_while(session.is_changing_phase, 1u, kShortWaitNs);
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

// Makes a forked child look like a process that never had a session.
void start_afresh(int pid) noexcept {
  if (session.pid == pid) return;
  for_each_record([](ThreadRecord& record) { free_record(record); });
  set_this_record(nullptr);
  session.pid = pid;
  session.holds.store(0);
  session.converted_threads.store(0);
  session.entering.store(0);
  session.leaving.store(0);
  session.is_changing_phase.store(0);
  session.ending.store(false);
  session.uses_cpu_timers.store(false);
  session.past_cpu_ns.store(0);
  session.phase.store(Phase::Off);
}

bool has_come(int tid) noexcept {
  const ThreadRecord* const record = record_of(tid);
  return is_in_session(record) && (!session.moves_all || record->is_stopped.load());
}

void tell_of_session(bool begins) noexcept {
  if (session.hooks.session) session.hooks.session(begins);
}

// `mask`: the thread's. If a session was attempted, the thread has kHandlerMask afterwards.
SessionStart begin_phases(const SessionOptions& options, uint64_t mask) noexcept {
  Phase off = Phase::Off;
  if (!session.phase.compare_exchange_strong(off, Phase::Entering)) return SessionStart::AlreadyOn;
  find_own_code();
  session.request_signal = options.request_signal;
  session.moves_all = options.moves_all;
  session.sample_signals = options.sample_signals;
  session.hooks = options.hooks;
  session.sampling = options.sampling;
  session.failed.store(false);
  tell_of_session(true);
  clear_interrupted_calls();
  session.number.fetch_add(1);

  // A handler of the program returns by a system call, which must not be dispatched before we can handle it.
  // No thread of the session may be in one that blocks our signals.
  set_kernel_mask(kHandlerMask);
  hide_own_signals();
  install_handlers();
  SessionStart result = SessionStart::Done;
  if (!enter_session()) {
    result = this_record() ? SessionStart::NoDispatch : SessionStart::TooMany;
  } else if (reads_signals_from_descriptors()) {
    result = SessionStart::SignalReader;
  } else if (has_cpu_timers()) {
    result = SessionStart::UsesCpuTimers;
  } else {
    this_record()->hidden_mask = mask & own_signal_bits();
    if (!stop_all_threads(has_come))
      result = session.failed.load() ? SessionStart::TooMany : SessionStart::Unreachable;
    else if (has_cpu_timers())  // since the session began
      result = SessionStart::UsesCpuTimers;
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

// Must be called with all signals blocked except ours and faults. `mask` is the thread's; it changes if the
// session ends.
bool end_phases(ThreadRecord& self, uint64_t& mask) noexcept {
  Phase on = Phase::On;
  if (!session.phase.compare_exchange_strong(on, Phase::Leaving)) return false;
  self.session.store(0);
  if (!stop_all_threads([](int tid) noexcept { return !is_in_session(record_of(tid)); })) {
    self.session.store(session.number.load());
    change_phase(Phase::On);
    return false;
  }
  dispatch_calls(false);
  mask |= self.hidden_mask;
  for_each_record([](ThreadRecord& record) { await_end_of_converted_thread(record); });
  if (session.uses_cpu_timers.exchange(false)) release_converted_threads();
  change_phase(Phase::Off);
  await_none(session.entering);
  show_own_signals();
  tell_of_session(false);
  return true;
}

}  // namespace

// Handlers of the program may call this too, or jump. They run only before and after a PhaseChange.
SessionStart begin_isolation(const SessionOptions& options) noexcept {
  const int pid = sys_getpid();
  if (this_record() && is_converted()) return SessionStart::AlreadyOn;
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
  // No handler of the program converts the thread meanwhile.
  uint64_t mask = set_kernel_mask(kAllSignals & ~own_signal_bits() & ~kFaultSignals);
  if (!self || is_converted() || sys_getpid() != session.pid) {
    set_kernel_mask(mask);
    return false;
  }
  bring_all_home();
  bool done;
  {
    const PhaseChange phase_change;
    done = end_phases(*self, mask);
  }
  release_converted_threads();
  // It may have left with others, and has its own mask since.
  const uint64_t here = set_kernel_mask(kAllSignals);
  set_kernel_mask(is_in_session(self) ? mask : mask | (here & own_signal_bits()));
  return done || session.phase.load() == Phase::Off;
}

void note_cpu_timers() noexcept {
  if (!session.uses_cpu_timers.exchange(true)) bring_all_home();
}

void reap_converted_threads() noexcept {
  const BlockedSignals blocked;  // other threads that wait for a converted thread's end spin meanwhile
  for_each_record(reap_converted_thread);
}

}  // namespace hpcrun
