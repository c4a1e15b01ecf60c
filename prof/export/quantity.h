#pragma once
// Costs as whole numbers of a unit that loses nothing of a clock: formats that count in integers.

#include <cmath>
#include <cstdint>

#include "analysis/database/model.h"
#include "analysis/views/wording.h"

namespace prof {

struct WholeUnit {
  double scale;      // of the metric's own unit
  const char* name;  // "nanoseconds", "bytes" or "count", as pprof and speedscope call them
};

inline WholeUnit whole_unit(const Metric& metric) {
  if (is_time(metric)) return {1e9, "nanoseconds"};
  return {1, metric.unit == "bytes" ? "bytes" : "count"};
}

inline int64_t whole(double value, WholeUnit unit) {
  constexpr double kLargest = 9e18;  // fits, and no program costs as much
  const double scaled = std::isfinite(value) ? value * unit.scale : 0;
  return std::llround(std::fmin(std::fmax(scaled, -kLargest), kLargest));
}

}  // namespace prof
