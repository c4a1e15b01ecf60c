#include "analysis/pipeline/metrics.h"

#include <algorithm>

namespace prof {
namespace {

// Values of one metric in the contexts of one thread: sampled there, then propagated towards the entry
// points.
class Propagation {
 public:
  explicit Propagation(std::span<const Context> contexts) : contexts_(contexts), values_(contexts.size()) {}

  void add(uint32_t context, double value) {
    values_[context].point += value;
    for (uint32_t at = context; at != kNone && !values_[at].reached; at = contexts_[at].parent) {
      values_[at].reached = true;
      reached_.push_back(at);
    }
  }

  // Appends the results and starts over.
  void finish(uint32_t metric, std::vector<ProfileValue>& out) {
    std::sort(reached_.begin(), reached_.end(), std::greater<>());  // children come before their parents
    for (const uint32_t at : reached_) {
      Cell& cell = values_[at];
      const Context& context = contexts_[at];
      cell.inclusive += cell.point;
      cell.exclusive += cell.point;
      if (context.parent != kNone) values_[context.parent].inclusive += cell.inclusive;
      // What a function did itself includes its lines and loops, whose own parts stay theirs alone.
      if (context.relation == Relation::Enclosing && context.parent != kNone)
        function_above(at).exclusive += cell.point;
      out.push_back({at, metric, {cell.exclusive, cell.inclusive, cell.point}});
      cell = {};
    }
    reached_.clear();
  }

 private:
  struct Cell {
    double point = 0;
    double exclusive = 0;
    double inclusive = 0;
    bool reached = false;
  };

  Cell& function_above(uint32_t context) {
    while (contexts_[context].relation == Relation::Enclosing && contexts_[context].parent != kNone) {
      context = contexts_[context].parent;
    }
    return values_[context];
  }

  std::span<const Context> contexts_;
  std::vector<Cell> values_;
  std::vector<uint32_t> reached_;
};

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
                                         std::span<const Context> contexts) {
  std::vector<ProfileValue> values;
  Propagation propagation(contexts);
  for (const MetricColumn& column : columns) {
    for (const MeasuredCell& cell : thread.cells) {
      if (cell.metric != column.id || cell.value == 0) continue;
      propagation.add(context_of[cell.node], static_cast<double>(cell.value) * column.scale);
    }
    propagation.finish(column.metric, values);
  }
  std::sort(values.begin(), values.end(), [](const ProfileValue& a, const ProfileValue& b) {
    return a.context != b.context ? a.context < b.context : a.metric < b.metric;
  });
  values.shrink_to_fit();
  return values;
}

}  // namespace prof
