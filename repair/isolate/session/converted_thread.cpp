#include "repair/isolate/session/converted_thread.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include <cassert>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/session/parked.h"
#include "repair/isolate/session/restartable_sequences.h"
#include "repair/isolate/session/session.h"
#include "repair/isolate/session/signal_masks.h"
#include "repair/isolate/session/switch.h"
#include "repair/isolate/session/tasks.h"
#include "repair/isolate/session/thread_record.h"
#include "repair/isolate/session/wait_word.h"

namespace hpcrun {

namespace {

constinit ConvertedThreadCounts counts;

// The number of live StaysHome objects of the calling thread.
constinit thread_local uint32_t stays_home __attribute__((tls_model("initial-exec"))) = 0;

void call(void (*hook)() noexcept) noexcept {
  if (!hook) return;
  const bool before = let_calls_pass(true);
  hook();
  let_calls_pass(before);
}

// Handles our signal after it interrupted a call of the program. If the runtime ran into a fault, the thread
// is at home by now, with its mask from there.
bool take_sample(int signal, const siginfo_t& info, ucontext_t& context) noexcept {
  if (!session.sampling.take || !is_converted()) return false;
  if (!session.sampling.take(signal, info, &context)) return false;
  ++this_record()->own_interruptions;
  if (is_converted()) return true;
  const uint64_t mask = set_kernel_mask(kAllSignals);
  set_mask_bits(context.uc_sigmask, mask);
  set_kernel_mask(mask);
  return true;
}

void on_sample_signal(int signal, siginfo_t* info, void* raw) {
  take_sample(signal, *info, *static_cast<ucontext_t*>(raw));
}

// The kernel wrote the signal frame to the thread's stack, so the original can return from it too, and
// repeats the instruction.
void on_fault(int signal, siginfo_t* info, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  if (signal == SIGTRAP && take_sample(signal, *info, context)) return;
  ThreadRecord& record = *this_record();
  set_mask_bits(context.uc_sigmask, give_back_in_handler(Leaving::Fault));
  if (session.hooks.place_in_program) {
    auto& at = context.uc_mcontext.gregs[REG_RIP];
    at = static_cast<greg_t>(session.hooks.place_in_program(static_cast<uint64_t>(at)));
  }
  constexpr int kBreakpoint = 3;  // the trap whose address is after the instruction
  constexpr int kDebug = 1;
  const bool is_sent = info->si_code <= 0;
  if (signal == SIGTRAP && context.uc_mcontext.gregs[REG_TRAPNO] == kBreakpoint && !is_sent)
    --context.uc_mcontext.gregs[REG_RIP];
  if (is_sent || (signal == SIGTRAP && context.uc_mcontext.gregs[REG_TRAPNO] == kDebug))
    raw_syscall(SYS_tgkill, session.pid, record.tid.load(), signal);
}

void install_fault_handlers() noexcept {
  KernelAction action;
  action.handler = reinterpret_cast<void*>(on_fault);
  action.flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kRestorerFlag;
  action.restorer = reinterpret_cast<void*>(hpcrun_signal_return);
  action.mask = kHandlerMask;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) kernel_action(signal, &action, nullptr);
  // Samples that arrive faster than they are handled must not pile up on the stack.
  action.flags &= ~static_cast<unsigned long>(SA_NODEFER);
  kernel_action(SIGTRAP, &action, nullptr);
  if (!sample_signal_bit()) return;
  action.handler = reinterpret_cast<void*>(on_sample_signal);
  action.flags |= SA_RESTART;
  kernel_action(*session.sampling.signal, &action, nullptr);
}

// Starts the timer for stop_with_program(). There is none if the user has too many timers.
void begin_to_look() noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = session.request_signal;
  int timer = 0;  // the kernel's number
  if (raw_syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, reinterpret_cast<long>(&event),
                  reinterpret_cast<long>(&timer)) < 0)
    return;
  const itimerspec each{{0, kLookNs}, {0, kLookNs}};
  raw_syscall(SYS_timer_settime, timer, 0, reinterpret_cast<long>(&each), 0);
}

// Runs in the new process.
void become_converted(ThreadRecord& record, uint64_t begin) noexcept {
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (raw_syscall(SYS_getppid) != session.pid) raw_syscall(SYS_exit_group, 0);
  record.has_uncounted_time.store(true);
  install_fault_handlers();
  begin_to_look();
  dispatch_calls(true);
  if (record.has_rseq) register_restartable_sequences();
  if (session.hooks.converted) session.hooks.converted();
  call(session.sampling.begin);
  const uint64_t time = monotonic_ns() - begin;
  counts.conversions.fetch_add(1);
  counts.conversion_ns.fetch_add(time);
  uint64_t longest = counts.longest_conversion_ns.load();
  while (longest < time && !counts.longest_conversion_ns.compare_exchange_weak(longest, time)) {
  }
}

uint64_t cpu_ns_of_running_converted_thread(const ThreadRecord& record) noexcept {
  const int process = record.process.load();
  if (process <= 0 || !record.has_uncounted_time.load()) return 0;
  // The kernel's number for a process's clock (clock_getcpuclockid(3)).
  return sys_clock_ns(static_cast<clockid_t>(~static_cast<unsigned>(process) << 3 | 2));
}

// True if the handlers of all pending signals of the thread restart calls.
bool waiting_signals_restart(const ThreadRecord& record) noexcept {
  uint64_t pending = 0;
  raw_syscall(SYS_rt_sigpending, reinterpret_cast<long>(&pending), sizeof pending);
  for (pending &= ~record.program_mask.load(); pending; pending &= pending - 1) {
    KernelAction action;
    kernel_action(__builtin_ctzll(pending) + 1, nullptr, &action);
    const bool is_handled = action.handler != reinterpret_cast<void*>(SIG_DFL) &&
                            action.handler != reinterpret_cast<void*>(SIG_IGN);
    if (is_handled && !(action.flags & SA_RESTART)) return false;
  }
  return true;
}

void count_out() noexcept {
  session.converted_threads.fetch_sub(1);
  wake_all(session.converted_threads);
}

}  // namespace

bool is_converted() noexcept {
  const ThreadRecord* record = this_record();
  return record && record->where.load(std::memory_order_relaxed) == Where::Converted;
}

int thread_number() noexcept {
  const int task = sys_gettid();
  const ThreadRecord* const record =
      this_record();  // last, because a thread that was converted before has one
  return record ? record->tid.load() : task;
}

bool was_asked_back() noexcept {
  return this_record()->asked_back.load();
}

ConvertedThreadCounts& converted_thread_counts() noexcept {
  return counts;
}

namespace {

// `program_mask`: the signals that the program believes the thread blocks; null: those that it blocks now.
Conversion convert(const uint64_t* program_mask) noexcept {
  ThreadRecord* record = this_record();
  if (!record || !is_session_on() || record->session.load() != session.number.load())
    return Conversion::NoSession;
  if (is_converted()) return Conversion::AlreadyConverted;
  if (sys_getpid() != session.pid) return Conversion::NoSession;
  if (record->call_at_home || stays_home || calls_pass()) return Conversion::Busy;

  const uint64_t begin = monotonic_ns();
  const uint64_t mask = set_kernel_mask(kAllSignals);
  if (is_converted()) {  // a handler has converted it meanwhile
    set_kernel_mask(mask);
    return Conversion::AlreadyConverted;
  }
  record->asked_back.store(0);
  session.converted_threads.fetch_add(1);
  record->where.store(Where::Converted);
  long result = -EAGAIN;
  // A thread that requires all threads at home from here on waits for this one; an earlier request is seen
  // here.
  const bool held = session.holds.load() != 0 || session.has_private_memory.load() || !is_session_on() ||
                    record->session.load() != session.number.load();
  if (!held) {
    await_end_of_converted_thread(*record);
    record->program_mask.store(program_mask ? *program_mask : mask);
    record->order.store(Order::None);
    record->in_trap = false;
    record->has_rseq = unregister_restartable_sequences();
    call(session.sampling.leave_home);
    // Without a signal at its end, which the kernel would deliver to any thread of the program, even one that
    // waits in a call. wait() does not report this child.
    result = hpcrun_part(record, CLONE_FILES | CLONE_FS | CLONE_SYSVSEM | CLONE_IO);
  }
  if (result < 0) {
    record->where.store(Where::Home);
    count_out();
    if (!held) {
      call(session.sampling.come_home);
      if (record->has_rseq) register_restartable_sequences();
      counts.refusals.fetch_add(1);
      counts.last_errno.store(static_cast<int>(-result));
    }
    set_kernel_mask(mask);
    return held ? Conversion::Held : Conversion::Refused;
  }
  become_converted(*record, begin);
  set_kernel_mask(converted_mask());
  // A request before the process had a number sent no signal to it.
  if (was_asked_back()) give_back(Leaving::Asked);
  return Conversion::Done;
}

}  // namespace

Conversion convert_this_thread() noexcept {
  return convert(nullptr);
}

uint64_t convert_in_handler(uint64_t interrupted) noexcept {
  if (convert(&interrupted) != Conversion::Done) return interrupted;
  return settle_in_handler();
}

void ask_to_convert(ThreadRecord& record) noexcept {
  if (record.where.load() != Where::Home || record.wanted.exchange(1)) return;
  raw_syscall(SYS_tgkill, session.pid, record.tid.load(), session.request_signal);
}

// The original is stopped with its process. If session.heartbeat has advanced since, the program runs, and no
// descriptor is opened.
void stop_with_program(ThreadRecord& record) noexcept {
  const uint32_t heartbeat = session.heartbeat.load();
  if (record.heartbeat_seen != heartbeat) {
    record.heartbeat_seen = heartbeat;
    return;
  }
  const timespec moment{0, 50'000'000};
  while (session.heartbeat.load() == heartbeat && is_stopped_task(record.tid.load()))
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&moment), 0);
}

void leave_where_asked() noexcept {
  if (is_converted() && !this_record()->in_trap && was_asked_back()) give_back(Leaving::Asked);
}

void stay_home() noexcept {
  ++stays_home;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (is_converted()) give_back(Leaving::Call);
}

StaysHome::StaysHome() noexcept {
  stay_home();
}
StaysHome::~StaysHome() {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  --stays_home;
}

void give_back(Leaving reason) noexcept {
  ThreadRecord* record = this_record();
  if (!is_converted()) return;
  const uint64_t mask = set_kernel_mask(kAllSignals);
  if (!is_converted()) {  // it was asked to come home meanwhile
    set_kernel_mask(mask);
    return;
  }
  if (session.hooks.before_leaving) session.hooks.before_leaving();
  counts.given_back[static_cast<int>(reason)].fetch_add(1);
  raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&record->handler_stack));
  const bool has_rseq = unregister_restartable_sequences();
  const uint64_t cpu_ns = sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  record->has_uncounted_time.store(false);  // first: a concurrent sum must not count it twice
  record->converted_cpu_ns += cpu_ns;
  session.past_cpu_ns.fetch_add(cpu_ns);
  call(session.sampling.end);

  hpcrun_leave(record);  // from here on in the original

  call(session.sampling.come_home);
  if (has_rseq) register_restartable_sequences();
  count_out();
  const bool restarts = waiting_signals_restart(*record);
  // They arrive now, in the thread's context, unless it blocks them.
  set_kernel_mask(record->program_mask.load());
  record->handlers_restart = restarts;
}

uint64_t settle_in_handler(bool at_home) noexcept {
  for (;;) {
    const uint64_t mask = set_kernel_mask(kAllSignals);
    ThreadRecord* record = this_record();
    if (!record) return mask;
    record->in_trap = false;
    if (!is_converted()) return mask;
    if (!was_asked_back() && !at_home) return converted_mask();
    give_back(was_asked_back() ? Leaving::Asked : Leaving::Call);
  }
}

uint64_t give_back_in_handler(Leaving reason) noexcept {
  give_back(reason);
  return settle_in_handler();
}

void ask_back_again(ThreadRecord& record) noexcept {
  const int process = record.process.load();
  if (process > 0 && record.where.load() == Where::Converted)
    raw_syscall(SYS_tgkill, process, process, session.request_signal);
}
// Requests once. A converted thread that is busy with its pages would otherwise only take the signals of
// repeated requests.
void ask_back(ThreadRecord& record) noexcept {
  if (record.where.load() == Where::Converted && !record.asked_back.exchange(1)) ask_back_again(record);
}
void ask_back(int tid) noexcept {
  if (ThreadRecord* record = record_of(tid)) ask_back(*record);
}

void ask_to_commit(ThreadRecord& record) noexcept {
  ask_back_again(record);  // the same signal; the converted thread checks what is requested
}

void bring_all_home() noexcept {
  session.holds.fetch_add(1);
  assert(!is_converted());  // it would wait for itself
  for (bool again = false;; again = true) {
    const uint32_t converted_threads = session.converted_threads.load();
    if (!converted_threads) return;
    for_each_record([again](ThreadRecord& record) {
      // The kernel may have had no room for another queued signal of the user.
      if (again && record.asked_back.load()) ask_back_again(record);
      ask_back(record);
    });
    wait_while(session.converted_threads, converted_threads, kLongWaitNs);
  }
}

void release_converted_threads() noexcept {
  session.holds.fetch_sub(1);
}

AllAtHome::AllAtHome(bool is_needed) noexcept : is_on_(is_needed && is_session_on()) {
  if (is_on_) bring_all_home();
}
AllAtHome::~AllAtHome() {
  if (is_on_) release_converted_threads();
}

uint64_t cpu_ns_of_converted_threads() noexcept {
  uint64_t sum = session.past_cpu_ns.load();
  for_each_record([&sum](const ThreadRecord& record) { sum += cpu_ns_of_running_converted_thread(record); });
  return sum;
}

uint64_t cpu_ns_of_converted_threads_of(const ThreadRecord& record) noexcept {
  const uint64_t past = record.converted_cpu_ns;  // first, as above
  return past + cpu_ns_of_running_converted_thread(record);
}

}  // namespace hpcrun

// Called on the parking stack.
extern "C" void hpcrun_parked(hpcrun::ThreadRecord* record, long process) noexcept;
void hpcrun_parked(hpcrun::ThreadRecord* record, long process) noexcept {
  hpcrun::stay_parked(*record, static_cast<int>(process));
}

// Called on the leaving stack, with nothing of the thread's any more.
extern "C" [[noreturn]] void hpcrun_left(hpcrun::ThreadRecord* record) noexcept;
void hpcrun_left(hpcrun::ThreadRecord* record) noexcept {
  hpcrun::wake_original(*record, hpcrun::Order::Leave);
  for (;;) hpcrun::raw_syscall(SYS_exit_group, 0);
}
