#pragma once
// Costs as whole numbers in a unit that keeps a clock's resolution: for formats that count in integers.

#include <cmath>
#include <cstdint>

#include "analysis/database/model.h"
#include "analysis/views/tree/wording.h"

namespace prof {

struct WholeUnit {
  double scale;      // of the metric's own unit
  const char* name;  // "nanoseconds", "bytes" or "count", the names of pprof and speedscope
};

inline WholeUnit whole_unit(const Metric& metric) {
  if (is_time(metric)) return {1e9, "nanoseconds"};
  return {1, metric.unit == "bytes" ? "bytes" : "count"};
}

inline int64_t whole(double value, WholeUnit unit) {
  constexpr double kMaxValue = 9e18;  // fits, and is larger than any program's cost
  const double scaled = std::isfinite(value) ? value * unit.scale : 0;
  return std::llround(std::fmin(std::fmax(scaled, -kMaxValue), kMaxValue));
}

}  // namespace prof
