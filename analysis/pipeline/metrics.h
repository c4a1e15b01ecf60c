#pragma once
// The metrics of all measurements as one list, and the values of one thread's contexts.

#include <span>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/database/propagation.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// A metric of one measurement, in terms of the database.
struct MetricColumn {
  uint16_t id = 0;  // in the measurement
  uint32_t metric = 0;
  double scale = 1;
};

// Adds what is new to `metrics` (equal name and unit are one metric) and returns the measurement's columns.
std::vector<MetricColumn> merge_metrics(const ProcessMeasurement& measurement, std::vector<Metric>& metrics);

// The values of a thread in all contexts where it has any, sorted by context and metric. context_of: of each
// node.
std::vector<ProfileValue> profile_values(const MeasuredThread& thread, std::span<const MetricColumn> columns,
                                         std::span<const uint32_t> context_of,
                                         std::span<const Context> contexts, Propagation& propagation);

}  // namespace prof
