#include "hpcrun/sample/signal_cost.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/source_events.h"
#include "hpcrun/sample/sources.h"
#include "hpcrun/sample/thread_timer.h"

namespace hpcrun {

namespace {

constexpr uint32_t kInterruptions = 15;

// Reads the clock continuously: a jump is an interruption of the thread. Other interruptions are rarer, and
// the median excludes them.
uint64_t measure_interruptions(uint32_t rate) noexcept {
  constexpr uint64_t kShortestNs = 1'000;  // longer than any read of the clock
  uint64_t times[kInterruptions];
  uint32_t count = 0;
  uint64_t before = monotonic_ns();
  const uint64_t end = before + 4 * uint64_t{kInterruptions} * 1'000'000'000 / rate;
  while (count < kInterruptions && before < end) {
    const uint64_t now = monotonic_ns();
    if (now - before >= kShortestNs) times[count++] = now - before;
    before = now;
  }
  return count == kInterruptions ? median(times, count) : 0;
}

// Measures a signal with a source like the event's, on this thread alone. Returns 0 if that is not possible.
uint64_t measure_signal(uint32_t event) noexcept {
  const uint32_t rate = process_state.config.events[event].rate;
  const Source source = process_state.sources[event];
  EventState state;
  uint64_t took = 0;
  switch (source) {
    case Source::SigtrapAll:
    case Source::SigtrapUser: {
      PerfRequest request = clock_request(event, source == Source::SigtrapUser);
      request.inherit_threads = false;
      state.descriptor = open_perf_event(request);
      break;
    }
    case Source::Setsig:
      if (!open_setsig(state, event, 0)) return 0;
      break;
    case Source::MonotonicTimer:
      if (start_timer(state, event, CLOCK_MONOTONIC, rate, sys_gettid())) took = measure_interruptions(rate);
      if (state.has_timer) timer_delete(state.timer);
      return took;
    default:
      return 0;
  }
  if (state.descriptor < 0) return 0;
  enable_perf_event(state.descriptor);
  took = measure_interruptions(rate);
  close_own_descriptor(state.descriptor);
  return took;
}

// Measures with the signals of samples unblocked, whatever mask the thread inherited.
uint64_t measure_unblocked(uint32_t event) noexcept {
  const uint64_t mask = source_signals();
  uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&mask), reinterpret_cast<long>(&before),
              sizeof mask);
  const uint64_t took = measure_signal(event);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, sizeof before);
  return took;
}

void note_lower_rate(const char* event) noexcept {
  char note[320];
  snprintf(note, sizeof note,
           "Fewer samples of %s were taken than requested, because the signals alone would take more than a "
           "twelfth of the time here; request fewer (-e %s@%u).",
           event, event, kRateAsRequested);
  process_state.file.write_note(note);
}

}  // namespace

uint64_t median(uint64_t* times, uint32_t count) noexcept {
  if (count == 0) return 0;
  std::nth_element(times, times + count / 2, times + count);
  return times[count / 2];
}

void lower_rates() noexcept {
  for (uint32_t event = 0; event < process_state.config.event_count; ++event) {
    EventSpec& spec = process_state.config.events[event];
    if (spec.rate > kRateAsRequested && !spec.requested_rate) {
      const uint32_t requested = spec.requested_rate = spec.rate;
      spec.rate = affordable_rate(requested, measure_unblocked(event));
    }
    if (!spec.requested_rate || spec.rate == spec.requested_rate) continue;
    note_lower_rate(spec.name);
    if (process_state.inherited_event == static_cast<int>(event) &&
        process_state.inherited_descriptor != kNoDescriptor)
      begin_whole_periods(process_state.inherited_descriptor, spec.rate);
  }
}

}  // namespace hpcrun
