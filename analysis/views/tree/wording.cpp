#include "analysis/views/tree/wording.h"

#include <fmt/format.h>

namespace prof {

std::string format_metric(const Metric& metric) {
  if (metric.name == "CPUTIME") return "the CPU time";
  if (metric.name == "REALTIME") return "the elapsed time";
  if (metric.name == "WRITTEN") return "the bytes written";
  if (metric.name == "LOADED") return "the bytes loaded";
  if (metric.name == "INSTRUCTIONS") return "the instructions";
  return is_time(metric) ? metric.name : "all " + metric.name;
}

bool is_time(const Metric& metric) {
  return metric.unit == "sec" || metric.unit == "s";
}

std::string format_location(const Database& database, const SourceLocation& location) {
  if (location.file >= database.files.size()) return {};
  const std::string name = base_name(database.files[location.file].path);
  return location.line > 0 ? fmt::format("{}:{}", name, location.line) : name;
}

std::string format_location(const Database& database, const SourceLocation& location, double share) {
  const std::string at = format_location(database, location);
  return at.empty() || is_all(share) ? at : fmt::format("{} ({})", at, format_percent(share));
}

std::string format_module(const Database& database, const Frame& frame) {
  if (frame.kind != FrameKind::Function || frame.module >= database.modules.size()) return {};
  const std::string module = base_name(database.modules[frame.module].path);
  const std::string name = frame_name(database, frame);
  // HPCToolkit appends "[module]" to the names of functions without line information; ours start with it.
  return name.ends_with("[" + module + "]") || name.starts_with(module + "+") ? std::string() : module;
}

bool has_symbol(const Database& database, const Frame& frame) {
  if (frame.kind != FrameKind::Function) return false;
  const std::string name = frame_name(database, frame);
  if (name.starts_with('[') || name.starts_with("<unknown ")) return false;  // HPCToolkit's: "<unknown file>"
  return frame.module >= database.modules.size() ||
         !name.starts_with(base_name(database.modules[frame.module].path) + "+0x");
}

}  // namespace prof
