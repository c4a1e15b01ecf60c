#include "analysis/pipeline/node_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/pipeline/common_time.h"
#include "analysis/pipeline/run_record.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// A hundred years: a clock may have been set in between, but larger values are invalid.
constexpr int64_t kMaxDistanceNs = int64_t{100} * 365 * 24 * 3600 * 1'000'000'000;
// A drift above a tenth of the run's length is rejected. NTP slews a clock by at most 500 parts per million,
// but a run of a tenth of a second has errors of some milliseconds.
constexpr int64_t kMinPartsToDrift = 10;

std::optional<int64_t> time_in(const nlohmann::json& comparison, const char* name) {
  const auto of = comparison.find(name);
  if (of == comparison.end() || !of->is_number_integer()) return std::nullopt;
  const auto ns = of->get<int64_t>();
  return ns > -kMaxDistanceNs && ns < kMaxDistanceNs ? std::optional(ns) : std::nullopt;
}

// One comparison of clocks.
struct Comparison {
  int64_t offset_ns = 0;
  int64_t error_ns = 0;
  std::optional<int64_t> monotonic_ns;  // time of the comparison
  // The offset to CLOCK_MONOTONIC, which cannot be set. If CLOCK_REALTIME was set in between, it differs from
  // what processes recorded at their start.
  int64_t to_monotonic_ns = 0;
};

std::optional<Comparison> comparison_in(const nlohmann::json& record, const char* when) {
  const auto of = record.find(when);
  if (of == record.end() || !of->is_object()) return std::nullopt;
  const std::optional<int64_t> offset = time_in(*of, "offset_ns");
  if (!offset) return std::nullopt;
  Comparison comparison{*offset, time_in(*of, "error_ns").value_or(0), std::nullopt, 0};
  const std::optional<int64_t> realtime = time_in(*of, "realtime_ns"),
                               monotonic = time_in(*of, "monotonic_ns");
  if (realtime && monotonic && *monotonic >= 0) {
    comparison.monotonic_ns = monotonic;
    comparison.to_monotonic_ns = *realtime - *monotonic + *offset;
  }
  return comparison;
}

int64_t mean(int64_t a, int64_t b) {
  return a + (b - a) / 2;
}

bool has_trace(const ProcessMeasurement& measurement) {
  return std::ranges::any_of(measurement.threads,
                             [](const MeasuredThread& thread) { return thread.trace_bytes > 0; });
}

}  // namespace

std::optional<NodeClocks::Clock> NodeClocks::clock_in(const nlohmann::json& record) {
  const std::optional<Comparison> begin = comparison_in(record, "begin");
  if (!begin) return std::nullopt;
  const Comparison end = comparison_in(record, "end").value_or(*begin);
  if (!begin->monotonic_ns || !end.monotonic_ns)
    return Clock{mean(begin->offset_ns, end.offset_ns), false, {}};
  const int64_t lost = end.to_monotonic_ns - begin->to_monotonic_ns;
  const int64_t length = *end.monotonic_ns - *begin->monotonic_ns;
  const bool drifts = std::abs(lost) > begin->error_ns + end.error_ns;
  const bool can_drift = length > 0 && std::abs(lost) <= length / kMinPartsToDrift;
  if (!drifts || !can_drift) return Clock{mean(begin->to_monotonic_ns, end.to_monotonic_ns), true, {}};
  const ClockDrift drift{static_cast<uint64_t>(*begin->monotonic_ns),
                         static_cast<uint64_t>(*end.monotonic_ns), lost};
  return Clock{begin->to_monotonic_ns, true, drift};
}

NodeClocks::NodeClocks(const std::vector<fs::path>& directories) {
  for (const fs::path& directory : directories) {
    for (const StoredFile& file : clock_files(directory)) {
      const auto record = nlohmann::json::parse(contents_of(file).value_or(""), nullptr, false);
      if (!record.is_object() || !record.contains("host") || !record["host"].is_string()) continue;
      const std::optional<Clock> clock = clock_in(record);
      if (!clock) continue;
      clock_of_[record["host"].get<std::string>()] = *clock;
      if (record.contains("reference") && record["reference"].is_string())
        references_.insert(record["reference"].get<std::string>());
    }
  }
}

void NodeClocks::correct(MeasuredProcess& process) const {
  const auto known = clock_of_.find(process.host);
  if (known == clock_of_.end()) return;
  const Clock& clock = known->second;
  if (!clock.to_monotonic) {
    process.start_realtime_ns += static_cast<uint64_t>(clock.offset_ns);
    return;
  }
  process.drift = clock.drift;
  process.start_realtime_ns =
      process.start_monotonic_ns +
      static_cast<uint64_t>(clock.offset_ns + lost_by(clock.drift, process.start_monotonic_ns));
}

std::vector<std::string> NodeClocks::warnings(const std::vector<ProcessMeasurement>& measurements) const {
  std::set<std::string> hosts, unknown;
  for (const ProcessMeasurement& measurement : measurements) {
    if (!has_trace(measurement)) continue;
    const std::string& host = measurement.process.host;
    hosts.insert(host);
    if (!clock_of_.contains(host) && !references_.contains(host)) unknown.insert(host);
  }
  // Without any comparison, `unknown` includes the first rank's own node.
  if (hosts.size() < 2 || unknown.empty() || (clock_of_.empty() && unknown.size() < 2)) return {};
  return {fmt::format(
      "the clocks of {} of {} nodes ({}) were not compared with the first rank's: their rows in the timeline "
      "are off by the difference; allow UDP between nodes, or synchronize the clocks with NTP",
      unknown.size(), hosts.size(), unknown.size() > 1 ? *unknown.begin() + " ..." : *unknown.begin())};
}

}  // namespace prof
