#include "prof/report/text.h"

#include <cmath>

#include "analysis/views/tree/wording.h"

namespace prof {

std::string format_value(const Metric& metric, double value) {
  if (!std::isfinite(value)) value = 0;
  return is_time(metric) ? fmt::format("{:.3f}", value) : fmt::format("{:.0f}", value);
}

std::string format_total(const Metric& metric, double value) {
  if (is_time(metric)) return format_duration(value);
  return format_value(metric, value) + (metric.unit.empty() ? "" : " " + metric.unit);
}

std::string leaf_as_csv(const std::vector<CodeFrame>& frames) {
  const CodeFrame leaf = frames.empty() ? CodeFrame{} : frames.front();
  return csv_field(leaf.function) + "," + csv_field(leaf.file) + "," +
         (leaf.line == 0 ? "" : std::to_string(leaf.line));
}

}  // namespace prof
