#include "hpcrun/sample/first_period.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/rest.h"
#include "hpcrun/sample/sample_cost.h"
#include "hpcrun/sample/source_events.h"
#include "hpcrun/sample/thread_timer.h"

namespace hpcrun {

namespace {

constexpr uint32_t kEvent = 0;  // the only one

bool is_by_perf(Source source) noexcept {
  return source == Source::SigtrapAll || source == Source::SigtrapUser;
}

// From 1 to `period`, all equally likely (splitmix64). Children that one process forks differ in both.
uint64_t random_part(uint64_t period, uint64_t now) noexcept {
  uint64_t mixed = now + (static_cast<uint64_t>(process_state.pid) << 32);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return (mixed ^ (mixed >> 31)) % period + 1;
}

// Takes the number of the parent's event, which is closed here by that.
bool open_event(bool user_only, uint64_t first_period_ns) noexcept {
  const int parents = process_state.inherited_descriptor;
  PerfRequest request = clock_request(kEvent, user_only);
  request.first_period_ns = first_period_ns;
  request.number = parents;
  return open_perf_event(request) == parents;
}

bool start_cpu_timer(FirstPeriod& first, uint64_t first_ns) noexcept {
  EventState state;
  const uint32_t rate = std::min(process_state.config.events[kEvent].rate, kCpuTimerRate);
  const bool started = start_timer(state, kEvent, CLOCK_THREAD_CPUTIME_ID, rate, process_state.pid, first_ns);
  first.timer = state.timer;
  first.has_timer = state.has_timer;
  return started;
}

}  // namespace

HPCRUN_FORK_PATH bool can_wait_for_first_sample() noexcept {
  const Config& config = process_state.config;
  if (config.event_count != 1 || config.events[kEvent].kind != EventKind::CpuTime) return false;
  if (config.contention || config.waste_kinds || config.locks || config.repairs() || config.isolates() ||
      config.has_repair_plan)
    return false;
  if (process_state.search_descriptor != kNoDescriptor || process_state.timer_event >= 0 ||
      process_state.late.load(std::memory_order_relaxed) || process_state.file.pause_switch().is_paused())
    return false;
  if (process_state.sources[kEvent] == Source::CpuTimer) return true;
  return is_by_perf(process_state.sources[kEvent]) && process_state.inherited_descriptor != kNoDescriptor &&
         is_perf_event(process_state.inherited_descriptor);
}

HPCRUN_FORK_PATH bool arm_first_period() noexcept {
  FirstPeriod& first = process_state.first_period;
  const Source source = process_state.sources[kEvent];
  const uint64_t period = signal_period_ns(kEvent);
  const uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);  // a call costs less than the first entry of the vDSO
  const uint64_t part = random_part(period, now);
  first.has_timer = false;
  first.not_elapsed_ns = period - part;
  if (is_by_perf(source) && !open_event(source == Source::SigtrapUser, part)) return false;
  // With a user clock the timer samples system time, as in the parent.
  if (source != Source::SigtrapAll && !start_cpu_timer(first, source == Source::CpuTimer ? part : 0)) {
    disarm_first_period();
    return false;
  }
  first.began_ns = now;
  first.cpu_ns = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  first.is_waiting.store(true, std::memory_order_release);
  if (is_by_perf(source)) enable_perf_event(process_state.inherited_descriptor);
  return true;
}

bool take_first_period(EventState& state) noexcept {
  FirstPeriod& first = process_state.first_period;
  if (!first.began_ns) return false;
  state.not_elapsed_ns = std::exchange(first.not_elapsed_ns, 0);
  state.timer = first.timer;
  state.has_timer = std::exchange(first.has_timer, false);
  return true;
}

void leave_out_of_first_period(uint64_t cpu_ns) noexcept {
  process_state.first_period.cpu_ns += sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
}

void end_first_period(bool by_sample) noexcept {
  FirstPeriod& first = process_state.first_period;
  first.began_ns = 0;
  if (is_by_perf(process_state.sources[kEvent]))
    begin_whole_periods(process_state.inherited_descriptor, process_state.config.events[kEvent].rate);
  ThreadState* const thread = this_thread();
  if (thread && !by_sample) thread->events[kEvent].not_elapsed_ns = 0;  // what elapsed counts as in others
}

void disarm_first_period() noexcept {
  FirstPeriod& first = process_state.first_period;
  if (std::exchange(first.has_timer, false)) timer_delete(first.timer);
  if (process_state.inherited_descriptor != kNoDescriptor)
    close_own_descriptor(process_state.inherited_descriptor);
  process_state.inherited_descriptor = kNoDescriptor;
  first.began_ns = 0;
}

}  // namespace hpcrun
