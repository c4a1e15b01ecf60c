#include "hpcrun/sample/handler.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/late_threads.h"
#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/rest.h"
#include "hpcrun/sample/sample_cost.h"
#include "hpcrun/sample/search_clock.h"
#include "hpcrun/sample/waiting.h"

namespace hpcrun {

namespace {

// siginfo_t of a SIGTRAP from perf: si_perf_data and si_perf_type follow si_addr (Linux 5.13, uapi
// siginfo.h).
constexpr size_t kPerfDataOffset = 24;

// Offset of si_perf_flags (Linux 5.18), 0 before.
constexpr size_t kPerfFlagsOffset = 36;
constexpr uint32_t kPerfSignalIsLate = 1;  // TRAP_PERF_FLAG_ASYNC

bool is_late(const siginfo_t& info) noexcept {
  uint32_t flags;
  memcpy(&flags, reinterpret_cast<const char*>(&info) + kPerfFlagsOffset, sizeof flags);
  return flags & kPerfSignalIsLate;
}

uint64_t perf_data_of(const siginfo_t& info) noexcept {
  uint64_t data;
  memcpy(&data, reinterpret_cast<const char*>(&info) + kPerfDataOffset, sizeof data);
  return data;
}

uint64_t read_counter(const EventState& state) noexcept {
  return read_perf_event(state.converted_thread_descriptor != kNoDescriptor
                             ? state.converted_thread_descriptor
                             : state.descriptor);
}

// True if a signal arrived as a system call returned. A timer signal that interrupts a thread in the kernel
// is delivered then: the instruction before the interrupted one is `syscall` (0F 05). The bytes are executed
// code, so they are readable.
bool returns_from_system_call(const ucontext_t& context) noexcept {
  const auto pc = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  const auto* before = reinterpret_cast<const uint8_t*>(pc) - 2;
  // Two bytes before may be on an unmapped page if the pc is at the start of one.
  if ((pc & 4095) < 2) return false;
  return before[0] == 0x0f && before[1] == 0x05;
}

// Returns a sample's weight: how far the event's own clock advanced since this thread's last sample. 0: the
// signal is not a sample (a CPU timer tick in user code that the user clock already covers).
uint64_t sample_weight(ThreadState& thread, uint32_t event, bool from_perf, const ucontext_t& context,
                       uint64_t now) noexcept {
  EventState& state = thread.events[event];
  const uint64_t period = clock_period_ns(event);
  const auto thread_cpu = [&thread] { return thread.tasks.cpu_ns(); };
  const auto thread_system_ns = [&thread] { return thread.tasks.system_ns(); };
  switch (process_state.sources[event]) {
    case Source::SigtrapAll:
      return state.cpu_clock.advance(period, now, thread_cpu);
    case Source::CpuTimer:
      // Timers may have taken over from a perf clock (choose_timers_instead_of_sigtrap).
      state.last = std::max({state.last, state.cpu_clock.cpu(), state.split_clock.claimed()});
      return elapsed(state.last, thread_cpu());
    case Source::Setsig:
      return elapsed(state.last, thread_cpu());
    case Source::SigtrapUser:
      if (from_perf) return state.split_clock.user_sample(period, thread_cpu(), thread_system_ns);
      if (!returns_from_system_call(context)) return 0;
      return state.split_clock.system_sample(thread_cpu(), thread_system_ns());
    case Source::MonotonicTimer:
      return elapsed(state.last, now);
    case Source::PerfCounter:
      return elapsed(state.last, read_counter(state));
    case Source::MemoryRecords:
    case Source::None:
      return 0;
  }
  return 0;
}

void count(Counter counter, uint64_t by = 1) noexcept {
  process_state.file.counter(counter).fetch_add(by, std::memory_order_relaxed);
}

// Counts signals that the kernel merged. The perf clock has no overrun count. They are derived from CPU time
// in which it fired less often than it should, minus the signals that were skipped.
void count_merged(EventState& state, uint32_t event, uint64_t weight) noexcept {
  const uint64_t skipped = state.brake.take_skipped();
  if (process_state.sources[event] != Source::SigtrapAll || std::exchange(state.had_lone_rate, false)) return;
  const uint64_t period = 1'000'000'000u / process_state.config.events[event].rate;
  if (weight <= period + period / 2) return;
  const uint64_t missing = (weight + period / 2) / period - 1;
  if (missing > skipped) count(Counter::DroppedOverrun, missing - skipped);
}

// Returns the thread's CPU clock, from the sample's own event if that counts it.
uint64_t thread_cpu_ns(const ThreadState& thread, uint32_t event) noexcept {
  switch (process_state.sources[event]) {
    case Source::SigtrapAll:
      return thread.events[event].cpu_clock.cpu();
    case Source::CpuTimer:
    case Source::Setsig:
      return thread.events[event].last;
    default:
      return thread.tasks.cpu_ns();
  }
}

// True if the thread is in a call that samples of this event do not interrupt, and that the event counts.
bool waits_for(const ThreadState& thread, uint32_t event) noexcept {
  return process_state.sources[event] == Source::MonotonicTimer && thread.open_waits;
}

uint64_t waits_since(const ThreadState& thread) noexcept {
  return thread.waits[thread.open_waits - 1].since_ns;
}

// Appends the part of a wait before a pause. If a wait contains several pauses, they are shown as one.
void append_wait_until(uint64_t paused_at, ThreadState& thread, NodeId node) noexcept {
  const uint64_t since = waits_since(thread);
  if (paused_at <= std::max(since, thread.last_trace_ns)) return;
  if (since > thread.last_trace_ns) thread.trace.append(since, node);
  thread.trace.append(paused_at, node);
  thread.last_trace_ns = paused_at;
}

// Appends a sample to the trace. A thread that slept under a CPU clock has a gap in its trace: more wall time
// than CPU time elapsed. Under the wall clock it has a gap while it was ready without a processor, if that is
// known, and was blocked before. It also has a gap for the time that it was not measured during a pause.
void append_trace(ThreadState& thread, uint32_t event, NodeId node, uint64_t now,
                  uint64_t in_pauses) noexcept {
  const uint64_t cpu = thread_cpu_ns(thread, event);
  const uint64_t in_run_queue =
      process_state.traces_wall_clock
          ? (thread.is_converted ? thread.converted_thread_run_queue : thread.run_queue).advance(now)
          : 0;
  const PauseSwitch pause = process_state.file.pause_switch();
  const uint64_t resumed = pause.resumed_at();
  if (in_pauses && waits_for(thread, event)) {
    const uint64_t paused_at =
        pause.is_paused() ? pause.paused_since() : resumed - std::min(resumed, in_pauses);
    append_wait_until(paused_at, thread, node);
    if (pause.is_paused()) return;
  }
  if (resumed > thread.last_trace_ns) {
    thread.trace.append_gap(resumed);
    thread.last_trace_ns = resumed;
    thread.last_trace_cpu_ns = cpu - std::min(cpu, now - resumed);
  }
  uint64_t wall_delta = now - thread.last_trace_ns;
  uint64_t cpu_delta = 0;  // also if an estimate was ahead of the present reading for another event's sample
  if (cpu > thread.last_trace_cpu_ns) cpu_delta = cpu - thread.last_trace_cpu_ns;
  constexpr uint64_t kShortestGapNs = 2'000'000;  // scheduling noise stays below two milliseconds
  // A thread that waited uninterrupted did so all the time.
  if (waits_for(thread, event)) {
    const uint64_t since = waits_since(thread);
    if (since > thread.last_trace_ns) thread.trace.append(since, node);
    if (process_state.traces_wall_clock) {
      wall_delta = std::min(wall_delta, now - since);
      cpu_delta = 0;  // was used before the wait
    }
  }
  const uint64_t off_processor = wall_delta > cpu_delta ? wall_delta - cpu_delta : 0;
  const uint64_t gap =
      process_state.traces_wall_clock ? std::min(in_run_queue, off_processor) : off_processor;
  if (gap > kShortestGapNs) {
    const uint64_t end = now - cpu_delta;
    if (off_processor - gap > kShortestGapNs) thread.trace.append(end - gap, node);
    thread.trace.append_gap(end);
  }
  thread.trace.append(now, node);
  thread.last_trace_ns = now;
  thread.last_trace_cpu_ns = cpu;
}

// The quantities that a sample represents.
struct Weight {
  uint64_t value;
  uint32_t samples;    // number of samples, had the thread not waited
  uint64_t in_pauses;  // elapsed in pauses, not included in `value`
};

// The source of one of our signals.
struct Origin {
  bool ours = false;
  uint32_t event = 0;
  bool from_perf = false;
  uint32_t merged = 0;  // expirations that the kernel merged into this one
};

// True if samples before this one cost too much. Two kinds are never skipped: a sample that ends a wait,
// which represents all of it, and that of a timer next to a user clock, which is rare.
bool is_skipped(ThreadState& thread, const Origin& origin) noexcept {
  if (waits_for(thread, origin.event)) return false;
  if (process_state.sources[origin.event] == Source::SigtrapUser && !origin.from_perf) return false;
  const uint64_t period = signal_period_ns(origin.event);
  if (!thread.events[origin.event].brake.skips(period, 1 + origin.merged)) return false;
  count(Counter::DroppedExpensive, 1 + origin.merged);
  return true;
}

void record(ThreadState& thread, uint32_t event, const Weight& weight, const ucontext_t& context,
            uint64_t now) noexcept {
  SampleCost cost(thread, event, now);
  const Stack stack = as_called(thread, thread.unwinder.walk(context));
  process_state.file.stack_counter(static_cast<uint8_t>(stack.reason))
      .fetch_add(weight.samples, std::memory_order_relaxed);
  const NodeId node = thread.tree.insert(stack.frames, stack.depth);
  cost.charge();
  if (node == kNoNode || !thread.tree.add(node, static_cast<uint16_t>(event), weight.value, weight.samples)) {
    return count(process_state.file.failure() ? Counter::DroppedFileFull : Counter::DroppedNoMemory);
  }
  count(Counter::Samples, weight.samples);
  count_merged(thread.events[event], event, weight.value);
  const bool is_cpu_time = process_state.config.events[event].kind == EventKind::CpuTime;
  for_each_on([&](const Hooks& kind) {
    if (kind.sample) kind.sample(thread, {context, stack, node, weight.value, now, is_cpu_time});
    return false;
  });
  if (process_state.config.trace) append_trace(thread, event, node, now, weight.in_pauses);
  if (thread.arena.bytes_mapped() != thread.noted_bytes) {
    thread.noted_bytes = thread.arena.bytes_mapped();
    note_memory();
  }
}

// The handler's own CPU time is measured every kTimedSamples samples, and counted for all of them. A wall
// clock would include preemptions, which are likely right after a timer interrupt. A thread's first sample,
// which allocates memory, counts for itself only.
constexpr uint32_t kTimedSamples = 16;

class HandlerTimer {
 public:
  explicit HandlerTimer(ThreadState& thread) noexcept
      : stands_for_(thread.samples ? kTimedSamples : 1),
        start_(thread.samples++ % kTimedSamples ? 0 : sys_clock_ns(CLOCK_THREAD_CPUTIME_ID)) {}
  ~HandlerTimer() {
    if (!start_) return;
    const uint64_t end = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (end > start_)  // if a fault returned the thread from its conversion meanwhile, it is another clock
      process_state.file.counter(Counter::HandlerNanoseconds)
          .fetch_add((end - start_) * stands_for_, std::memory_order_relaxed);
  }
  HandlerTimer(const HandlerTimer&) = delete;
  HandlerTimer& operator=(const HandlerTimer&) = delete;

 private:
  uint32_t stands_for_;
  uint64_t start_;
};

// Returns the number of samples that a signal represents. While a thread waited uninterrupted, all
// expirations found it in the same call: each is a sample. Otherwise, merged expirations are lost.
uint32_t samples_of(const ThreadState& thread, const Origin& origin) noexcept {
  if (!origin.merged) return 1;
  const Source source = process_state.sources[origin.event];
  if (waits_for(thread, origin.event)) return 1 + origin.merged;
  // A timer next to a user clock is not a sample of its own.
  if (source != Source::SigtrapUser) count(Counter::DroppedOverrun, origin.merged);
  return 1;
}

// Returns the weight without pauses. A sample in a pause counts only for a wait that began before the pause,
// whose end it shows.
Weight measured(ThreadState& thread, const Origin& origin, uint64_t whole, uint64_t now) noexcept {
  EventState& state = thread.events[origin.event];
  const uint64_t paused_since = process_state.file.pause_switch().paused_since();
  const uint64_t value = without_pauses(state, origin.event, whole, now);
  if (paused_since) {
    if (!thread.is_converted) rest(state);
    if (!waits_for(thread, origin.event) || waits_since(thread) >= paused_since) return {};
  } else if (state.timer_rests && !thread.is_converted) {
    pace_timer(state, origin.event, false);
  }
  if (!value) return {};
  uint32_t samples = samples_of(thread, origin);
  const uint64_t in_pauses = whole - value;
  if (in_pauses && samples > 1) {
    const uint64_t expected = value / timer_period_ns(origin.event);
    samples = static_cast<uint32_t>(std::clamp<uint64_t>(expected, 1, samples));
  }
  return {value, samples, in_pauses};
}

void end_first_period(EventState& state, uint32_t event) noexcept {
  if (!state.converted_thread_begins) [[likely]]
    return;
  state.converted_thread_begins = false;
  if (state.converted_thread_descriptor != kNoDescriptor)
    begin_whole_periods(state.converted_thread_descriptor, process_state.config.events[event].rate);
}

// False for the timer next to a user clock, whose periods are all whole.
bool ends_first_period(const Origin& origin) noexcept {
  return origin.from_perf || process_state.sources[origin.event] == Source::CpuTimer;
}

void sample(const Origin& origin, const ucontext_t& context) noexcept {
  const uint32_t event = origin.event;
  const DirectCalls direct;
  const AtWork at_work;
  if (process_state.first_period.is_waiting.load(std::memory_order_relaxed)) [[unlikely]]
    process_state.first_period.start(ends_first_period(origin));
  if (!process_state.sampling.load(std::memory_order_seq_cst) || thread_is_left_out) return;
  ThreadState* thread = this_thread();
  if (!thread) thread = adopt_late_thread(static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]));
  if (!thread || event >= process_state.config.event_count)
    return count(Counter::DroppedThreadUnready, 1 + origin.merged);
  if (thread->busy) return count(Counter::DroppedNested, 1 + origin.merged);
  if (is_skipped(*thread, origin)) [[unlikely]]
    return;
  thread->busy = 1;
  {
    const HandlerTimer timer(*thread);
    const uint64_t now = monotonic_ns();
    look_at_name(*thread, now);
    end_first_period(thread->events[event], event);
    uint64_t whole = sample_weight(*thread, event, origin.from_perf, context, now);
    if (whole && ends_first_period(origin)) whole += std::exchange(thread->events[event].not_elapsed_ns, 0);
    if (const Weight weight = measured(*thread, origin, whole, now); weight.value)
      record(*thread, event, weight, context, now);
  }
  thread->busy = 0;
}

// True for the hit of a breakpoint, which is not a sample. Neither are records of memory accesses.
bool is_breakpoint(uint64_t data) noexcept {
  return data >> 31 == kBreakpointSignalData >> 31;
}

// Passes the signal of a breakpoint, or of a memory event, to the kind that it is for.
void call_hook(const Hooks& kind, ThreadState& thread, const ucontext_t& context, uint64_t data,
               bool is_late) noexcept {
  const HandlerTimer timer(thread);
  if (is_breakpoint(data) && is_late && kind.late_hit)
    kind.late_hit(thread, data);
  else if (is_breakpoint(data))
    kind.hit(thread, context, data, monotonic_ns());
  else
    kind.records(thread, context, static_cast<uint32_t>(data), monotonic_ns());
}

bool is_of_memory(const Origin& origin) noexcept {
  return origin.event < process_state.config.event_count &&
         process_state.sources[origin.event] == Source::MemoryRecords;
}

void observe_memory(uint64_t data, bool is_late, const ucontext_t& context) noexcept {
  const DirectCalls direct;
  const AtWork at_work;
  if (!process_state.sampling.load(std::memory_order_seq_cst)) return;
  ThreadState* const thread = this_thread();
  if (!thread || thread->busy) return;
  for_each_on([&](const Hooks& kind) {
    if (is_breakpoint(data) ? !kind.hit || !is_breakpoint_of(*kind.kind, data) : !kind.records) return false;
    thread->busy = 1;
    call_hook(kind, *thread, context, data, is_late);
    thread->busy = 0;
    return true;
  });
}

Origin from_data(uint64_t data, bool from_perf) noexcept {
  return {data >> 32 == kPerfCookie, static_cast<uint32_t>(data), from_perf};
}

Origin from_timer(const siginfo_t& info) noexcept {
  Origin origin = from_data(reinterpret_cast<uintptr_t>(info.si_value.sival_ptr), false);
  if (info.si_overrun > 0) origin.merged = static_cast<uint32_t>(info.si_overrun);
  return origin;
}

// Finds the event of an F_SETSIG signal, whose si_fd is the descriptor. Signals queue: if no event has this
// descriptor (any more), the signal comes late, from an event that was closed. The same holds for a former
// signal number that the program has taken over since. Only signals of our descriptors are ours there,
// because the program's may raise it as well. Signals of one attachment may arrive in the next, which has
// other sources.
Origin from_descriptor(int signal, const siginfo_t& info) noexcept {
  const bool is_late = signal == process_state.timer_signal &&
                       process_state.has_signals_of_descriptors.load(std::memory_order_relaxed);
  Origin origin{is_late, process_state.config.event_count, true};
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    if (process_state.sources[event] != Source::Setsig) continue;
    if (process_state.pid != own_process()) return {};  // a child of _Fork(): the thread's state dangles
    const ThreadState* thread = this_thread();
    const bool is_of_thread = thread && thread->events[event].descriptor == info.si_fd;
    origin.ours |= is_of_thread || signal == process_state.timer_signal || is_own_descriptor(info.si_fd);
    if (is_of_thread) origin.event = event;
  }
  return origin;
}

bool may_be_of_events(int signal) noexcept {
  return signal == process_state.timer_signal ||
         (process_state.left_timer_signals.load(std::memory_order_acquire) >> (signal - 1) & 1);
}

Origin origin_of(int signal, const siginfo_t& info) noexcept {
  if (signal == SIGTRAP && info.si_code == kTrapPerf) return from_data(perf_data_of(info), true);
  if (info.si_code == SI_TIMER) return from_timer(info);
  const bool is_ready = info.si_code == POLL_IN || info.si_code == POLL_HUP;
  return is_ready && may_be_of_events(signal) ? from_descriptor(signal, info) : Origin{};
}

}  // namespace

bool is_our_sample(int signal, const siginfo_t& info) noexcept {
  return origin_of(signal, info).ours;
}

bool handle_sample_signal(int signal, const siginfo_t& info, void* context) noexcept {
  const Origin origin = origin_of(signal, info);
  if (!origin.ours) return false;
  if (origin.from_perf && signal == SIGTRAP && (is_breakpoint(perf_data_of(info)) || is_of_memory(origin))) {
    observe_memory(perf_data_of(info), is_late(info), *static_cast<const ucontext_t*>(context));
    return true;
  }
  sample(origin, *static_cast<const ucontext_t*>(context));
  return true;
}

void note_memory() noexcept {
  const uint64_t bytes = Arena::process_bytes_mapped() +
                         process_state.table_bytes.load(std::memory_order_relaxed) +
                         process_state.file.bytes_mapped();
  std::atomic<uint64_t>& high = process_state.file.counter(Counter::RuntimeBytes);
  uint64_t seen = high.load(std::memory_order_relaxed);
  while (seen < bytes && !high.compare_exchange_weak(seen, bytes, std::memory_order_relaxed)) {
  }
}

void look_at_name(ThreadState& thread, uint64_t now) noexcept {
  if (!thread.name.is_due(now)) [[likely]]
    return;
  char name[kThreadNameBytes];
  sys_thread_name(name);
  thread.name.note(process_state.file, thread.index, name, now);
}

void start_clocks(ThreadState& thread) noexcept {
  const FirstPeriod& first = process_state.first_period;
  const uint64_t now = first.began_ns ? first.began_ns : monotonic_ns();
  const uint64_t cpu = first.began_ns ? first.cpu_ns : sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  thread.last_trace_ns = now;
  thread.last_trace_cpu_ns = cpu;
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    EventState& state = thread.events[event];
    switch (process_state.sources[event]) {
      case Source::SigtrapAll:
        state.cpu_clock.start(cpu, now);
        break;
      case Source::SigtrapUser:
        // A forked child has none of the parent's system time.
        state.split_clock.start(cpu, first.began_ns ? 0 : thread.tasks.system_ns());
        break;
      case Source::MonotonicTimer:
        state.last = now;
        state.paused_ns = process_state.file.pause_switch().paused_ns(now);
        break;
      case Source::PerfCounter:
        state.last = read_counter(state);
        break;
      default:
        state.last = cpu;
    }
  }
}

}  // namespace hpcrun
