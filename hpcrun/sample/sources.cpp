#include "hpcrun/sample/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/first_period.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/late_threads.h"
#include "hpcrun/sample/memory_events.h"
#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/rest.h"
#include "hpcrun/sample/search_clock.h"
#include "hpcrun/sample/source_events.h"
#include "hpcrun/sample/thread_timer.h"

namespace hpcrun {

bool open_setsig(EventState& state, uint32_t event, int tid) noexcept {
  PerfRequest request = clock_request(event, false);
  request.sigtrap = false;
  request.inherit_threads = false;
  request.tid = tid;
  int descriptor = open_perf_event(request);
  if (descriptor == -EACCES || descriptor == -EPERM) {
    request.exclude_kernel = true;
    descriptor = open_perf_event(request);
  }
  if (descriptor < 0) return false;
  state.descriptor = descriptor;
  process_state.has_signals_of_descriptors.store(true, std::memory_order_relaxed);
  const f_owner_ex owner{F_OWNER_TID, tid ? tid : sys_gettid()};
  return fcntl(descriptor, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 &&
         fcntl(descriptor, F_SETSIG, process_state.timer_signal) == 0 &&
         fcntl(descriptor, F_SETOWN_EX, &owner) == 0;
}

namespace {

void arm_cpu_timer_of(ThreadState& thread, uint32_t event) noexcept {
  EventState& state = thread.events[event];
  if (state.has_timer) return;  // the one that sampled system time now samples all of it
  const uint32_t rate = process_state.config.events[event].rate;
  start_timer(state, event, cpu_clock_of(thread.tid), rate < kCpuTimerRate ? rate : kCpuTimerRate,
              thread.tid);
}

bool arm_event(ThreadState& thread, uint32_t event) noexcept {
  EventState& state = thread.events[event];
  if (take_first_period(state)) return true;
  const uint32_t rate = process_state.config.events[event].rate;
  const uint32_t cpu_timer_rate = rate < kCpuTimerRate ? rate : kCpuTimerRate;
  switch (process_state.sources[event]) {
    case Source::SigtrapAll:
    case Source::None:
      return true;
    case Source::SigtrapUser:
    case Source::CpuTimer:
      return start_timer(state, event, cpu_clock_of(thread.tid), cpu_timer_rate, thread.tid);
    case Source::MonotonicTimer:
      return start_timer(state, event, CLOCK_MONOTONIC, rate, thread.tid);
    case Source::Setsig:
      return open_setsig(state, event, thread.tid);
    case Source::PerfCounter:
      return (state.descriptor = open_counter(event, thread.tid)) != kNoDescriptor;
    case Source::MemoryRecords:
      arm_memory_event(state, event, thread.tid);
      return true;  // the thread is sampled without it
  }
  return false;
}

// Enables an event. `prof` pauses and resumes the events that are open; this handles one that was opened
// meanwhile.
void enable_unless_paused(int descriptor) noexcept {
  if (!process_state.file.pause_switch().is_paused()) enable_perf_event(descriptor);
  if (process_state.file.pause_switch().is_paused()) disable_perf_event(descriptor);
}

void enable_events_of(const ThreadState& thread) noexcept {
  for (const EventState& state : thread.events)
    if (state.descriptor != kNoDescriptor) enable_unless_paused(state.descriptor);
}

void for_each_shared_event(void (*change)(int)) noexcept {
  for (const int descriptor : {process_state.inherited_descriptor, process_state.search_descriptor})
    if (descriptor != kNoDescriptor) change(descriptor);
  if (LateThreads* late = process_state.late.load(std::memory_order_acquire))
    late->for_each_descriptor([=](const std::atomic<int>& descriptor) {
      if (const int number = descriptor.load(); number != kNoDescriptor) change(number);
    });
}

void for_each_event(void (*change)(int)) noexcept {
  for_each_shared_event(change);
  const ThreadState* thread = this_thread();
  if (!thread) return;
  for (const EventState& state : thread->events)
    if (state.descriptor != kNoDescriptor) change(state.descriptor);
}

// Includes signals used before: samples may still arrive.
uint64_t raised_signals() noexcept {
  return source_signals() | process_state.left_timer_signals.load(std::memory_order_acquire);
}

// Removes pending signals of stopped sources, which would find a thread without state. Signals that the
// program sent are sent again.
void drain_signals() noexcept {
  const uint64_t mask = raised_signals() & ~(uint64_t{1} << (SIGTRAP - 1));
  if (!mask) return;
  constexpr size_t kMaxForeign = 32;
  siginfo_t foreign[kMaxForeign];
  size_t count = 0;
  const timespec now{};
  while (count < kMaxForeign &&
         raw_syscall(SYS_rt_sigtimedwait, reinterpret_cast<long>(&mask),
                     reinterpret_cast<long>(&foreign[count]), reinterpret_cast<long>(&now), sizeof mask) > 0)
    if (!is_our_sample(foreign[count].si_signo, foreign[count]) && foreign[count].si_code != SI_TKILL)
      ++count;
  for (size_t i = 0; i < count; ++i) resend_signal(foreign[i]);
}

// Opens the event that all threads inherit, for a thread that existed before. If the descriptor limit or the
// kernel prevents that, a timer samples the thread.
bool open_inherited(ThreadState& thread, uint32_t event, LateThreads& late) noexcept {
  PerfRequest request = clock_request(event, process_state.sources[event] == Source::SigtrapUser);
  request.tid = thread.tid;
  const int descriptor = open_perf_event(request);
  if (descriptor < 0) {
    arm_cpu_timer_of(thread, event);
    return thread.events[event].has_timer;
  }
  if (!late.add_descriptor(descriptor)) {
    close_own_descriptor(descriptor);
    return false;
  }
  enable_unless_paused(descriptor);
  return true;
}

constexpr char kLacksRunQueue[] =
    "In traces, some threads that wait for a processor appear blocked: there are too few file descriptors to "
    "check each (ulimit -n), /proc is not mounted, or the kernel does not account it.";

void open_run_queue(ThreadState& thread) noexcept {
  // For the first thread, and for all that live to the end of the process, note_ends() reads it.
  if (thread.index == 0 && !process_state.traces_wall_clock) return;
  const bool is_open = thread.run_queue.open(thread.tid);
  if (!is_open && process_state.traces_wall_clock && !process_state.lacks_run_queue.exchange(true))
    process_state.file.write_note(kLacksRunQueue, NoteKind::Traces);
}

void start_clocks_of(ThreadState& thread) noexcept {
  const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
  const uint64_t cpu = sys_clock_ns(cpu_clock_of(thread.tid));
  thread.cpu_before_ns = cpu;
  thread.last_trace_ns = now;
  thread.last_trace_cpu_ns = cpu;
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    EventState& state = thread.events[event];
    if (process_state.sources[event] == Source::SigtrapAll) state.cpu_clock.start(cpu, now);
    state.last = process_state.sources[event] == Source::MonotonicTimer ? now : cpu;
    state.paused_ns = process_state.file.pause_switch().paused_ns(now);
    if (process_state.sources[event] == Source::PerfCounter) state.last = 0;
  }
}

}  // namespace

void arm_late_thread(ThreadState& thread, LateThreads& late) noexcept {
  bool refused = false;
  open_run_queue(thread);
  start_clocks_of(thread);
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    refused |= !arm_event(thread, event);
    if (process_state.inherited_event == static_cast<int>(event))
      refused |= !open_inherited(thread, event, late);
  }
  enable_events_of(thread);
  if (refused) process_state.file.counter(Counter::UnsampledThreads).fetch_add(1, std::memory_order_relaxed);
}

namespace {

uint64_t change_mask(uint64_t mask) noexcept {
  uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), reinterpret_cast<long>(&before),
              sizeof mask);
  return before;
}

// Uses the kernel's clocks undispatched, with the program's handlers blocked.
uint64_t cpu_ns_of(const ThreadState& thread) noexcept {
  constexpr uint64_t kAll = ~uint64_t{0};
  const uint64_t before = change_mask(kAll);
  uint64_t cpu;
  {
    const DirectCalls direct;
    cpu = sys_clock_ns(cpu_clock_of(thread.tid));
  }
  change_mask(before);
  return cpu + thread.tasks.of_converted_threads_ns();
}

}  // namespace

uint64_t thread_cpu_ns(const ThreadState& thread) noexcept {
  const uint64_t cpu = cpu_ns_of(thread);
  return cpu > thread.cpu_before_ns ? cpu - thread.cpu_before_ns : 0;
}

void arm_thread(ThreadState& thread) noexcept {
  bool refused = false;
  open_run_queue(thread);
  for (uint32_t event = 0; event < process_state.config.event_count; ++event)
    refused |= !arm_event(thread, event);
  start_clocks(thread);
  enable_events_of(thread);
  if (refused) process_state.file.counter(Counter::UnsampledThreads).fetch_add(1, std::memory_order_relaxed);
}

void disarm_thread(ThreadState& thread) noexcept {
  uint64_t old = 0;
  const uint64_t mask = raised_signals();
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&mask), reinterpret_cast<long>(&old),
              sizeof mask);
  for (EventState& state : thread.events) {
    if (state.has_timer) timer_delete(state.timer);
    if (state.descriptor != kNoDescriptor) close_own_descriptor(state.descriptor);
    state.records.unmap();
  }
  thread.run_queue.close();
  drain_signals();  // recognizes our signals by their descriptors
  for (EventState& state : thread.events) {
    state.has_timer = false;
    state.descriptor = kNoDescriptor;
  }
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&old), 0, sizeof old);
}

bool choose_timers_instead_of_sigtrap() noexcept {
  if (process_state.inherited_event < 0) return false;
  const auto event = static_cast<uint32_t>(process_state.inherited_event);
  stop_inherited_event();
  sample_often_only(event);
  process_state.sources[event] = Source::CpuTimer;
  process_state.timer_event = static_cast<int>(event);
  process_state.file.write_note(
      "CPUTIME is sampled by timers, at 250 Hz at most, since the program started to read SIGTRAP from a "
      "signalfd.");
  return true;
}

void arm_cpu_timer(ThreadState& thread) noexcept {
  arm_cpu_timer_of(thread, static_cast<uint32_t>(process_state.timer_event));
}

void rearm_timers(ThreadState& thread) noexcept {
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    EventState& state = thread.events[event];
    const Source source = process_state.sources[event];
    if (source == Source::Setsig && state.descriptor != kNoDescriptor)
      fcntl(state.descriptor, F_SETSIG, process_state.timer_signal);
    if (!state.has_timer) continue;
    timer_delete(state.timer);
    state.has_timer = false;
    const bool is_wall_clock = source == Source::MonotonicTimer;
    const uint32_t rate = process_state.config.events[event].rate;
    start_timer(state, event, is_wall_clock ? CLOCK_MONOTONIC : cpu_clock_of(thread.tid),
                is_wall_clock || rate < kCpuTimerRate ? rate : kCpuTimerRate, thread.tid);
  }
}

void start_inherited_event() noexcept {
  if (process_state.inherited_descriptor != kNoDescriptor)
    enable_unless_paused(process_state.inherited_descriptor);
}

void stop_inherited_event() noexcept {
  for_each_shared_event(close_own_descriptor);
  process_state.inherited_descriptor = kNoDescriptor;
  process_state.search_descriptor = kNoDescriptor;
  process_state.inherited_event = -1;
  if (LateThreads* late = process_state.late.load(std::memory_order_acquire))
    late->for_each_descriptor([](std::atomic<int>& descriptor) { descriptor = kNoDescriptor; });
}

void pause_events() noexcept {
  for_each_event(disable_perf_event);
}

void resume_events() noexcept {
  for_each_event(enable_unless_paused);
  rest_search_clock();
}

void pace_thread(ThreadState& thread, bool resting) noexcept {
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    EventState& state = thread.events[event];
    pace_timer(state, event, resting);
    if (state.descriptor == kNoDescriptor) continue;
    resting ? disable_perf_event(state.descriptor) : enable_perf_event(state.descriptor);
  }
}

void pace_inherited_event(bool resting) noexcept {
  for_each_shared_event(resting ? disable_perf_event : enable_perf_event);
  rest_search_clock();
}

uint64_t source_signals() noexcept {
  uint64_t mask = 0;
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    const Source source = process_state.sources[event];
    if (source == Source::SigtrapAll || source == Source::SigtrapUser || source == Source::PerfCounter ||
        source == Source::MemoryRecords)
      mask |= uint64_t{1} << (SIGTRAP - 1);
    if (source != Source::SigtrapAll && source != Source::PerfCounter && source != Source::MemoryRecords &&
        source != Source::None)
      mask |= uint64_t{1} << (process_state.timer_signal - 1);
  }
  return mask;
}

}  // namespace hpcrun
