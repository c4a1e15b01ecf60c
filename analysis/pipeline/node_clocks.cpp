#include "analysis/pipeline/node_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/pipeline/run_record.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// Of a time when somebody set the clock; what is further away is no clock's.
constexpr int64_t kFarthest = int64_t{100} * 365 * 24 * 3600 * 1'000'000'000;

std::optional<int64_t> offset_in(const nlohmann::json& record, const char* when) {
  const auto of = record.find(when);
  if (of == record.end() || !of->is_object()) return std::nullopt;
  const auto offset = of->find("offset_ns");
  if (offset == of->end() || !offset->is_number_integer()) return std::nullopt;
  const auto ns = offset->get<int64_t>();
  return ns > -kFarthest && ns < kFarthest ? std::optional(ns) : std::nullopt;
}

bool has_trace(const ProcessMeasurement& measurement) {
  return std::ranges::any_of(measurement.threads,
                             [](const MeasuredThread& thread) { return thread.trace_bytes > 0; });
}

}  // namespace

NodeClocks::NodeClocks(const std::vector<fs::path>& directories) {
  for (const fs::path& directory : directories) {
    for (const StoredFile& file : clock_files(directory)) {
      const auto record = nlohmann::json::parse(contents_of(file).value_or(""), nullptr, false);
      if (!record.is_object() || !record.contains("host") || !record["host"].is_string()) continue;
      const std::optional<int64_t> begin = offset_in(record, "begin"), after = offset_in(record, "end");
      if (!begin) continue;
      offset_of_[record["host"].get<std::string>()] = *begin + (after.value_or(*begin) - *begin) / 2;
      if (record.contains("reference") && record["reference"].is_string())
        references_.insert(record["reference"].get<std::string>());
    }
  }
}

int64_t NodeClocks::offset_ns(const std::string& host) const {
  const auto known = offset_of_.find(host);
  return known == offset_of_.end() ? 0 : known->second;
}

void NodeClocks::correct(MeasuredProcess& process) const {
  process.start_realtime_ns += static_cast<uint64_t>(offset_ns(process.host));
}

std::vector<std::string> NodeClocks::warnings(const std::vector<ProcessMeasurement>& measurements) const {
  std::set<std::string> hosts, unknown;
  for (const ProcessMeasurement& measurement : measurements) {
    if (!has_trace(measurement)) continue;
    const std::string& host = measurement.process.host;
    hosts.insert(host);
    if (!offset_of_.contains(host) && !references_.contains(host)) unknown.insert(host);
  }
  // All but the first rank's own, whichever that is.
  if (hosts.size() < 2 || unknown.empty() || (offset_of_.empty() && unknown.size() < 2)) return {};
  return {fmt::format(
      "the clocks of {} of {} nodes ({}) were not compared with the first rank's: their lines in the "
      "timeline are as far off as those; "
      "let UDP pass between nodes, or keep their clocks by NTP",
      unknown.size(), hosts.size(), unknown.size() > 1 ? *unknown.begin() + " ..." : *unknown.begin())};
}

}  // namespace prof
