#include "hpcrun/sample/converted_thread.h"

#include <algorithm>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/own_process.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/rest.h"
#include "hpcrun/sample/source_events.h"

namespace hpcrun {

namespace {

// Returns the state of the calling thread if it is measured.
ThreadState* measured_thread() noexcept {
  return process_state.sampling.load(std::memory_order_acquire) ? this_thread() : nullptr;
}

// Returns the remainder of the period that began with the last sample. Otherwise a thread whose conversions
// are always shorter than a period would never be sampled while converted. Not so short that the signal comes
// again before it is handled.
uint64_t first_ns(uint64_t period_ns, uint64_t sampled_until, uint64_t cpu_ns) noexcept {
  constexpr uint64_t kMinNs = 100'000;
  const uint64_t gone = cpu_ns > sampled_until ? cpu_ns - sampled_until : 0;
  const uint64_t least = std::min(period_ns, std::max(period_ns / 16, kMinNs));
  return period_ns - std::min(gone, period_ns - least);
}

void open_clock(EventState& state, uint32_t event, bool user_only, uint64_t first) noexcept {
  PerfRequest request = clock_request(event, user_only);
  request.inherit_threads = false;
  request.first_period_ns = first;
  const int descriptor = open_perf_event(request);
  if (descriptor < 0) return;
  state.converted_thread_descriptor = descriptor;
  state.converted_thread_begins = true;
}

void start_timer(uint32_t event, clockid_t clock, uint64_t first) noexcept {
  sigevent signal{};
  signal.sigev_notify = SIGEV_THREAD_ID;
  signal.sigev_signo = process_state.timer_signal;
  signal._sigev_un._tid = sys_gettid();
  signal.sigev_value.sival_ptr = reinterpret_cast<void*>(perf_signal_data(event));
  int timer = 0;  // the kernel's number; the timer ends with the process
  if (raw_syscall(SYS_timer_create, clock, reinterpret_cast<long>(&signal), reinterpret_cast<long>(&timer)) <
      0)
    return;
  const auto time = [](uint64_t ns) {
    return timespec{static_cast<time_t>(ns / 1'000'000'000u), static_cast<long>(ns % 1'000'000'000u)};
  };
  const itimerspec interval{time(timer_period_ns(event)), time(first)};
  raw_syscall(SYS_timer_settime, timer, 0, reinterpret_cast<long>(&interval), 0);
}

void start_event(ThreadState& thread, uint32_t event, uint64_t now) noexcept {
  EventState& state = thread.events[event];
  const uint64_t cpu = thread.tasks.cpu_ns();
  const uint64_t period = 1'000'000'000u / process_state.config.events[event].rate;
  switch (process_state.sources[event]) {
    case Source::SigtrapAll:
      open_clock(state, event, false, first_ns(period, state.cpu_clock.cpu(), cpu));
      break;
    case Source::SigtrapUser:
      open_clock(state, event, true, first_ns(period, state.split_clock.claimed(), cpu));
      start_timer(event, CLOCK_THREAD_CPUTIME_ID, timer_period_ns(event));
      break;
    case Source::CpuTimer:
    case Source::Setsig:
      start_timer(event, CLOCK_THREAD_CPUTIME_ID, first_ns(timer_period_ns(event), state.last, cpu));
      break;
    case Source::MonotonicTimer:
      start_timer(event, CLOCK_MONOTONIC, first_ns(timer_period_ns(event), state.last, now));
      break;
    case Source::PerfCounter:
      state.converted_thread_descriptor = open_counter(event, 0);
      state.last_at_home = state.last;
      state.last = 0;
      break;
    case Source::MemoryRecords:  // private pages have no transfers to record
    case Source::None:
      break;
  }
  if (state.converted_thread_descriptor == kNoDescriptor) return;
  const PauseSwitch pause = process_state.file.pause_switch();
  if (!pause.is_paused()) enable_perf_event(state.converted_thread_descriptor);
  if (pause.is_paused()) disable_perf_event(state.converted_thread_descriptor);
}

// Stops an event. Adds a counter's increase since the last sample to the counter in the program's process.
void stop_event(EventState& state, uint32_t event) noexcept {
  if (state.converted_thread_descriptor == kNoDescriptor) return;
  if (process_state.sources[event] == Source::PerfCounter) {
    const uint64_t count = read_perf_event(state.converted_thread_descriptor);
    const uint64_t rest = count - std::min(count, state.last);
    state.last = state.last_at_home - std::min(state.last_at_home, rest);
  }
  close_own_descriptor(state.converted_thread_descriptor);
  state.converted_thread_descriptor = kNoDescriptor;
}

template <typename Use>
void for_each_event(Use use) noexcept {
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) use(event);
}

bool is_wall_clock(uint32_t event) noexcept {
  return process_state.sources[event] == Source::MonotonicTimer;
}

}  // namespace

void leave_home() noexcept {
  ThreadState* const thread = measured_thread();
  if (!thread) return;
  thread->tasks.leave_home();
  for_each_event([&](uint32_t event) {
    if (is_wall_clock(event)) stop_timer(thread->events[event]);
  });
}

void begin_as_converted() noexcept {
  program_of_converted_thread = process_state.pid;
  ThreadState* const thread = measured_thread();
  if (!thread) return;
  thread->is_converted = true;
  if (process_state.traces_wall_clock) thread->converted_thread_run_queue.open(sys_gettid());
  const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);
  for_each_event([&](uint32_t event) { start_event(*thread, event, now); });
}

void end_as_converted() noexcept {
  if (ThreadState* const thread = this_thread(); thread && thread->is_converted) {
    for_each_event([&](uint32_t event) { stop_event(thread->events[event], event); });
    thread->converted_thread_run_queue.close();
    thread->tasks.end_converted_thread();
    thread->is_converted = false;
  }
  program_of_converted_thread = 0;
}

void come_home() noexcept {
  ThreadState* const thread = measured_thread();
  if (!thread) return;
  thread->tasks.come_home();
  for_each_event([&](uint32_t event) {
    if (is_wall_clock(event)) restart_timer(thread->events[event], event);
  });
}

bool take_sample_as_converted(int signal, const siginfo_t& info, void* context) noexcept {
  return handle_sample_signal(signal, info, context);
}

}  // namespace hpcrun
