#include "analysis/pipeline/metrics.h"

#include <algorithm>

namespace prof {
namespace {

std::string description(const MeasuredMetric& metric) {
  if (metric.source.empty()) return metric.note;
  return metric.note.empty() ? metric.source : metric.source + "; " + metric.note;
}

}  // namespace

std::vector<MetricColumn> merge_metrics(const ProcessMeasurement& measurement, std::vector<Metric>& metrics) {
  std::vector<MetricColumn> columns;
  for (const MeasuredMetric& measured : measurement.metrics) {
    const auto known = std::ranges::find_if(metrics, [&](const Metric& metric) {
      return metric.name == measured.name && metric.unit == measured.unit;
    });
    columns.push_back({measured.id, static_cast<uint32_t>(known - metrics.begin()), measured.scale});
    if (known == metrics.end()) metrics.push_back({measured.name, measured.unit, description(measured)});
  }
  return columns;
}

std::vector<ProfileValue> profile_values(const MeasuredThread& thread, std::span<const MetricColumn> columns,
                                         std::span<const uint32_t> context_of,
                                         std::span<const Context> contexts, Propagation& propagation) {
  std::vector<ProfileValue> values;
  propagation.begin(contexts);
  for (const MetricColumn& column : columns) {
    for (const MeasuredCell& cell : thread.cells) {
      if (cell.metric != column.id || cell.value == 0) continue;
      propagation.add(context_of[cell.node], static_cast<double>(cell.value) * column.scale);
    }
    propagation.finish(column.metric, values);
  }
  sort_values(values);
  values.shrink_to_fit();
  return values;
}

}  // namespace prof
