#pragma once
// Metrics of which the runtime knows name, unit and meaning beforehand (lock_metrics.h, device_metrics.h),
// and how it announces them in a measurement file.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// `Id`: an enum whose values are part of the format.
template <typename Id>
struct DescribedMetric {
  Id id;
  const char* name;
  const char* description;
  const char* unit = "sec";
  double scale = 1e-9;  // stored value * scale = value in unit
};

// Once in a MeasurementFile, before their values.
template <typename Id, size_t kCount, typename File>
void announce(const DescribedMetric<Id> (&metrics)[kCount], File& file) noexcept {
  for (const DescribedMetric<Id>& metric : metrics)
    file.write_metric({static_cast<uint16_t>(metric.id), metric.name, metric.unit, metric.scale,
                       metric.description, 0, ""});
}

}  // namespace hpcrun
