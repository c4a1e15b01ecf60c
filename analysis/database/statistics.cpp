#include "analysis/database/statistics.h"

namespace prof {

std::string full_name(const Metric& metric) {
  return metric.unit.empty() ? metric.name : metric.name + " (" + metric.unit + ")";
}

void split_full_name(std::string_view full, Metric& metric) {
  const size_t open = full.rfind(" (");
  const bool has_unit =
      open != std::string_view::npos && open > 0 && full.ends_with(')') && open + 3 < full.size();
  metric.name = has_unit ? full.substr(0, open) : full;
  metric.unit = has_unit ? full.substr(open + 2, full.size() - open - 3) : std::string_view{};
}

}  // namespace prof
