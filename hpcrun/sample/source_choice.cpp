// Chooses how each event is sampled in this process: the best source that the kernel allows.

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/memory_events.h"
#include "hpcrun/sample/search_clock.h"
#include "hpcrun/sample/source_events.h"
#include "hpcrun/sample/sources.h"

namespace hpcrun {

namespace {

struct SourceText {
  const char* name;
  const char* note;
};

// Indexed by Source. The note says what is lost compared with the best source, and the remedy.
constexpr SourceText kSourceText[] = {
    {"perf cpu-clock, sigtrap, user and kernel", ""},
    {"perf cpu-clock, sigtrap, user; system time by a thread CPU timer",
     "System time is sampled at 250 Hz at most, because kernel.perf_event_paranoid does not allow this user "
     "to sample the kernel; `sysctl kernel.perf_event_paranoid=1` or CAP_PERFMON removes the limit."},
    {"POSIX thread CPU timer",
     "CPUTIME is sampled at 250 Hz at most, because perf_event_open with sigtrap is not available here (it "
     "needs Linux 5.13, kernel.perf_event_paranoid of 2 or less, and a seccomp profile that allows it)."},
    {"perf cpu-clock, F_SETSIG",
     "CPUTIME is sampled by queued signals (F_SETSIG), the most expensive source, because neither perf "
     "sigtrap nor thread CPU timers are available here."},
    {"POSIX monotonic timer", ""},
    {"perf counter, sigtrap", ""},
    {"", ""},  // memory records have no metric
    {"none",
     "This event cannot be sampled in this process, because the kernel refused every source; see `prof "
     "doctor`."},
};

Source choose_cpu_source(uint32_t event) noexcept {
  const Config& config = process_state.config;
  if (config.trigger <= Trigger::Sigtrap && process_state.inherited_descriptor == kNoDescriptor) {
    for (const bool user_only : {false, true}) {
      const int descriptor = open_perf_event(clock_request(event, user_only));
      if (descriptor < 0) continue;
      process_state.inherited_descriptor = descriptor;
      process_state.inherited_event = static_cast<int>(event);
      return user_only ? Source::SigtrapUser : Source::SigtrapAll;
    }
  }
  if (config.trigger <= Trigger::Timer) {
    timer_t timer{};
    sigevent signal{};
    signal.sigev_notify = SIGEV_NONE;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &signal, &timer) == 0) {
      timer_delete(timer);
      return Source::CpuTimer;
    }
  }
  return Source::Setsig;
}

bool can_count(uint32_t event) noexcept {
  const int probe = open_counter(event, 0);
  if (probe == kNoDescriptor) return false;
  close_own_descriptor(probe);
  return true;
}

Source choose_source(uint32_t event) noexcept {
  switch (process_state.config.events[event].kind) {
    case EventKind::CpuTime:
      return choose_cpu_source(event);
    case EventKind::RealTime:
      return Source::MonotonicTimer;
    case EventKind::Perf:
      return can_count(event) ? Source::PerfCounter : Source::None;
    case EventKind::Memory:
      return can_record(event) ? Source::MemoryRecords : Source::None;
  }
  return Source::None;
}

void describe(uint32_t event) noexcept {
  const EventSpec& spec = process_state.config.events[event];
  const SourceText& text = kSourceText[static_cast<size_t>(process_state.sources[event])];
  const bool is_time = spec.kind != EventKind::Perf;
  MetricInfo metric{};
  metric.id = static_cast<uint16_t>(event);
  metric.name = spec.name;
  metric.unit = is_time ? "sec" : "";
  metric.scale = is_time ? 1e-9 : 1.0;
  metric.source = text.name;
  metric.requested_hz = spec.requested_rate ? spec.requested_rate : spec.rate;
  metric.note = text.note;
  process_state.file.write_metric(metric);
}

}  // namespace

void describe_sources() noexcept {
  for (uint32_t event = 0; event < process_state.config.event_count; ++event)
    if (process_state.config.events[event].kind != EventKind::Memory) describe(event);
}

void choose_sources() noexcept {
  process_state.protects_waits = false;
  process_state.wait_event = -1;
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    const Source source = process_state.sources[event] = choose_source(event);
    if (process_state.config.events[event].kind == EventKind::CpuTime) open_search_clock(event, source);
    if (process_state.config.events[event].kind != EventKind::Memory)
      describe(event);  // others have a metric
    const bool goes_on = source == Source::MonotonicTimer;
    if (goes_on && process_state.wait_event < 0) process_state.wait_event = static_cast<int>(event);
    process_state.protects_waits |= goes_on || source == Source::Setsig;
  }
  process_state.lacks_memory_records = false;
  process_state.traces_wall_clock =
      process_state.config.trace && process_state.sources[0] == Source::MonotonicTimer;
  process_state.lacks_run_queue = false;
  // Detaching would free thread states that waiting calls still use.
  if (process_state.late.load(std::memory_order_relaxed)) process_state.protects_waits = false;
  // It was opened on the thread that loads the runtime, which ends; the others get their own.
  if (process_state.late.load(std::memory_order_relaxed) &&
      process_state.inherited_descriptor != kNoDescriptor) {
    close_own_descriptor(process_state.inherited_descriptor);
    process_state.inherited_descriptor = kNoDescriptor;
  }
}

}  // namespace hpcrun
