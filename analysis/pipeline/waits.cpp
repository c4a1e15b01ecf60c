#include "analysis/pipeline/waits.h"

#include <algorithm>
#include <cmath>

namespace prof {
namespace {

using hpcrun::LockKind;
using hpcrun::LockRole;

// Returns a time of CLOCK_MONOTONIC. The launcher knows the end of a process that was killed if it started
// that process. Any other process lived at least until the last time that its threads recorded.
uint64_t end_of(const ProcessMeasurement& measurement, const RunRecord& record) {
  if (measurement.process.end_monotonic_ns != 0) return measurement.process.end_monotonic_ns;
  if (record.pid == measurement.process.pid && record.end_monotonic_ns)
    return static_cast<uint64_t>(*record.end_monotonic_ns);
  uint64_t last = 0;
  for (const MeasuredThread& thread : measurement.threads) {
    last = std::max({last, thread.start_ns, thread.end_ns});
    for (const MeasuredWait& wait : thread.waits) last = std::max(last, wait.since_ns);
    for (const MeasuredLockCell& cell : thread.locks)
      if (cell.role == LockRole::Open) last = std::max(last, cell.total_ns);
  }
  return last;
}

uint64_t samples_in(uint64_t ns, double hz) {
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(static_cast<double>(ns) * 1e-9 * hz)));
}

// Returns the length of all pauses until that time, which must not be before the end of the last one.
uint64_t paused_ns(const ProcessMeasurement& measurement, uint64_t until) {
  const uint64_t since = measurement.counter(hpcrun::Counter::PausedSinceNs);
  const uint64_t over = measurement.counter(hpcrun::Counter::PausedNanoseconds);
  return since != 0 && until > since ? over + until - since : over;
}

// `end`: on the clock that stops during pauses.
void charge_open(MeasuredThread& thread, uint64_t end, bool has_tasks) {
  std::erase_if(thread.locks, [&](const MeasuredLockCell& cell) {
    return cell.role == LockRole::Open &&
           (thread.end_ns != 0 || cell.total_ns > end || (has_tasks && cell.kind == LockKind::Team));
  });
  for (MeasuredLockCell& cell : thread.locks) {
    if (cell.role != LockRole::Open) continue;
    cell.role = LockRole::Wait;
    cell.is_open = true;
    cell.object = cell.waits;
    cell.since_ns = cell.total_ns;
    cell.holder_id = cell.longest_ns;
    cell.waits = 1;
    cell.total_ns = cell.longest_ns = end - cell.since_ns;
  }
}

}  // namespace

void charge_waits(ProcessMeasurement& measurement, const RunRecord& record) {
  const uint64_t end = end_of(measurement, record);
  measurement.process.seen_until_ns = end;
  const bool has_tasks = measurement.counter(hpcrun::Counter::FollowsLocks) == hpcrun::kFollowsLocksWithTasks;
  for (MeasuredThread& thread : measurement.threads)
    charge_open(thread, end - std::min(end, paused_ns(measurement, end)), has_tasks);
  for (MeasuredThread& thread : measurement.threads) {
    if (thread.end_ns != 0) continue;
    std::ranges::sort(thread.waits, {}, &MeasuredWait::since_ns);
    for (size_t i = 0; i < thread.waits.size(); ++i) {
      const MeasuredWait& wait = thread.waits[i];
      // A signal handler that interrupted a call may have made another.
      const bool is_interrupted = i + 1 < thread.waits.size() && thread.waits[i + 1].since_ns < end;
      const uint64_t until = is_interrupted ? thread.waits[i + 1].since_ns : end;
      const auto metric = std::ranges::find(measurement.metrics, wait.metric, &MeasuredMetric::id);
      if (until <= wait.since_ns || metric == measurement.metrics.end()) continue;
      const uint64_t paused = is_interrupted ? thread.waits[i + 1].paused_ns : paused_ns(measurement, end);
      const uint64_t in_pauses = paused - std::min(paused, wait.paused_ns);
      if (in_pauses >= until - wait.since_ns) continue;
      const uint64_t ns = until - wait.since_ns - in_pauses;
      const uint64_t samples = samples_in(ns, metric->requested_hz);
      thread.cells.push_back({wait.node, wait.metric, samples, ns});
      measurement.counters[static_cast<size_t>(hpcrun::Counter::Samples)] += samples;
    }
  }
}

}  // namespace prof
