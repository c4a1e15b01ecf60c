#include "prof/run/refusals.h"

#include <algorithm>
#include <cstring>

#include "prof/base/message.h"
#include "prof/base/runtime_library.h"

namespace prof {

namespace {

void require_outside_sampling(const Target& target, const RunFacts& facts) {
  const char* what = reason_outside(target.kind);
  if (only_real_time(facts.sampled.events))
    fail(kOwnFailure, "{}: {}; it is sampled from outside, where REALTIME is not available; use -e CPUTIME",
         target.image.string(), what);
  if (facts.outside_error)
    fail(
        kOwnFailure,
        "{}: {}; it could be sampled from outside, but perf events are refused ({}); allow them with `sysctl "
        "kernel.perf_event_paranoid=2`, in containers with a seccomp profile that allows perf_event_open",
        target.image.string(), what, std::strerror(facts.outside_error));
}

void require_sources(const TriggerProbe& probe, const std::vector<hpcrun::EventSpec>& events) {
  const auto asks_for = [&](hpcrun::EventKind kind) {
    return std::ranges::any_of(events, [=](const hpcrun::EventSpec& event) { return event.kind == kind; });
  };
  const char* lacking = nullptr;
  if (asks_for(hpcrun::EventKind::CpuTime) && !probe.has_clock)
    lacking = "CPUTIME: perf events and timers are";
  if (asks_for(hpcrun::EventKind::RealTime) && !probe.has_timers) lacking = "REALTIME: timers are";
  if (lacking)
    fail(kOwnFailure,
         "cannot sample {} refused; allow one: a seccomp profile with perf_event_open or timer_create, and a "
         "limit of pending signals above 0 (`ulimit -i`)",
         lacking);
}

}  // namespace

bool only_real_time(const std::vector<hpcrun::EventSpec>& events) {
  return std::ranges::all_of(
      events, [](const hpcrun::EventSpec& event) { return event.kind == hpcrun::EventKind::RealTime; });
}

void refuse_what_only_the_runtime_does(const RunRequest& request, const Target& target) {
  if (!target.needs_outside()) return;
  if (request.locks)
    fail(kOwnFailure,
         "{}: -e locks needs the preloaded runtime, which this program cannot load; leave -e locks out",
         target.image.string());
  if (request.repairs.is_for_anything())
    fail(kOwnFailure,
         "{}: --repair needs the preloaded runtime, which this program cannot load; leave --repair out",
         target.image.string());
  if (request.waste_kinds)
    fail(kOwnFailure,
         "{}: memory waste is sampled by the preloaded runtime, which this program cannot load; use `prof "
         "exact --dead-stores`",
         target.image.string());
  if (request.counts_pages())
    fail(kOwnFailure,
         "{}: -e contention:pages needs the preloaded runtime, which it cannot load; leave "
         "-e contention:pages out",
         target.image.string());
}

void refuse_isolation_without_means(const RunRequest& request, const RunFacts& facts) {
  if (!request.isolates()) return;
  const char* const option = request.isolating_option();
  require_kernel_for_isolation(facts.kernel_release, option,
                               request.counts_pages() ? "-e contention" : "--repair");
  if (facts.libraries.allocator.empty())
    fail(kOwnFailure,
         "{} needs {}, which is not installed; install it (apt install libjemalloc2), or name its folder in "
         "LD_LIBRARY_PATH",
         option, kIsolatingAllocator);
}

void refuse_events_without_source(const RunFacts& facts) {
  if (facts.target.needs_outside())
    require_outside_sampling(facts.target, facts);
  else
    require_sources(facts.probe, facts.sampled.events);
}

}  // namespace prof
