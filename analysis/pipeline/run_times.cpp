#include "analysis/pipeline/run_times.h"

#include <algorithm>
#include <utility>

#include "analysis/pipeline/nanosecond.h"

namespace prof {
namespace {

using hpcrun::Counter;

using Span = std::pair<uint64_t, uint64_t>;  // CLOCK_REALTIME, derived from the process's start

uint64_t last_sign_of(const ProcessMeasurement& measurement) {
  uint64_t end = measurement.process.end_monotonic_ns;
  for (const MeasuredThread& thread : measurement.threads) end = std::max(end, thread.end_ns);
  return end;
}

// A process that was killed, replaced or still runs has no end. Then the last end of a thread is used.
std::optional<Span> whole_span(const ProcessMeasurement& measurement) {
  const MeasuredProcess& process = measurement.process;
  const uint64_t end = last_sign_of(measurement);
  if (end < process.start_monotonic_ns) return std::nullopt;
  return Span{process.start_realtime_ns, end - process.start_monotonic_ns + process.start_realtime_ns};
}

std::optional<Span> own_span(const ProcessMeasurement& measurement) {
  const MeasuredProcess& process = measurement.process;
  const auto noted = [&](Counter counter, uint64_t otherwise) {
    const uint64_t time = measurement.counter(counter);
    return time ? time : otherwise;
  };
  const uint64_t begin = noted(Counter::ProgramBeganNs, process.start_monotonic_ns);
  const uint64_t end =
      noted(Counter::ProgramEndedNs, std::max(last_sign_of(measurement), process.seen_until_ns));
  if (begin < process.start_monotonic_ns || end < begin) return std::nullopt;
  const uint64_t to_realtime = process.start_realtime_ns - process.start_monotonic_ns;  // may wrap
  return Span{begin + to_realtime, end + to_realtime};
}

// Returns the length of the union of the spans, including the time between them if `gaps`.
uint64_t length_of(std::vector<Span> spans, bool gaps) {
  std::sort(spans.begin(), spans.end());
  uint64_t seen = spans.front().first;
  uint64_t all = 0;
  for (const auto& [start, end] : spans) {
    if (end <= seen) continue;
    all += end - (gaps ? seen : std::max(start, seen));
    seen = end;
  }
  return all;
}

}  // namespace

std::optional<double> measured_seconds(const std::vector<ProcessMeasurement>& measurements, bool one_run) {
  std::vector<Span> spans;
  bool ended = false;
  for (const ProcessMeasurement& measurement : measurements) {
    const std::optional<Span> span = whole_span(measurement);
    const uint64_t start = measurement.process.start_realtime_ns;
    spans.push_back(span.value_or(Span{start, start}));
    ended |= span.has_value();
  }
  if (!ended) return std::nullopt;
  return static_cast<double>(length_of(std::move(spans), one_run)) * kNanosecond;
}

std::optional<double> program_seconds(const std::vector<ProcessMeasurement>& measurements) {
  std::vector<Span> spans;
  for (const ProcessMeasurement& measurement : measurements)
    if (const std::optional<Span> span = own_span(measurement)) spans.push_back(*span);
  if (spans.empty()) return std::nullopt;
  const double all = static_cast<double>(length_of(std::move(spans), false)) * kNanosecond;
  return std::max(0.0, all - longest_pause_seconds(measurements));
}

std::optional<double> program_seconds(const ProcessMeasurement& measurement) {
  const std::optional<Span> span = own_span(measurement);
  if (!span) return std::nullopt;
  const double all = static_cast<double>(span->second - span->first) * kNanosecond;
  return std::max(0.0, all - paused_seconds(measurement));
}

double paused_seconds(const ProcessMeasurement& measurement) {
  uint64_t paused = measurement.counter(Counter::PausedNanoseconds);
  const uint64_t since = measurement.counter(Counter::PausedSinceNs);
  const uint64_t end = std::max(last_sign_of(measurement), measurement.process.seen_until_ns);
  if (since != 0 && end > since) paused += end - since;
  return static_cast<double>(paused) * kNanosecond;
}

double longest_pause_seconds(const std::vector<ProcessMeasurement>& measurements) {
  double longest = 0;
  for (const ProcessMeasurement& measurement : measurements)
    longest = std::max(longest, paused_seconds(measurement));
  return longest;
}

}  // namespace prof
