#pragma once
// Merges the metrics of all measurements into one list, and computes the values of a thread's contexts.

#include <span>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/database/propagation.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Maps a metric of one measurement to the database.
struct MetricColumn {
  uint16_t id = 0;  // in the measurement
  uint32_t metric = 0;
  double scale = 1;
};

// Adds metrics that are new to `metrics` (equal name and unit make one metric). Returns the measurement's
// columns.
std::vector<MetricColumn> merge_metrics(const ProcessMeasurement& measurement, std::vector<Metric>& metrics);

// Returns the values of a thread in all contexts that have any, sorted by context and metric. context_of: the
// context of each node.
std::vector<ProfileValue> profile_values(const MeasuredThread& thread, std::span<const MetricColumn> columns,
                                         std::span<const uint32_t> context_of,
                                         std::span<const Context> contexts, Propagation& propagation);

}  // namespace prof
