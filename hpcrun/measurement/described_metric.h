#pragma once
// Describes metrics whose name, unit and meaning are fixed (lock_metrics.h, device_metrics.h), and announces
// them in a measurement file.

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

// Writes the metric records. Must be called once per MeasurementFile, before the first values.
template <typename Id, size_t kCount, typename File>
void announce(const DescribedMetric<Id> (&metrics)[kCount], File& file) noexcept {
  for (const DescribedMetric<Id>& metric : metrics)
    file.write_metric({static_cast<uint16_t>(metric.id), metric.name, metric.unit, metric.scale,
                       metric.description, 0, ""});
}

}  // namespace hpcrun
