#include "analysis/views/compare/format_comparison.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/views/tree/wording.h"

namespace prof {

namespace {

std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (size_t at = digits.size(); at > 3 + (value < 0 ? 1u : 0u); at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string times(double ratio) {
  constexpr double kMany = 10;
  constexpr double kFew = 0.1;
  if (ratio < kFew) return fmt::format("x {:.2g}", ratio);
  return ratio >= kMany ? fmt::format("x {:.0f}", ratio) : fmt::format("x {:.2f}", ratio);
}

}  // namespace

std::string format_amount(const Metric& metric, double value) {
  if (is_time(metric)) return format_duration(value);
  if (metric.unit == "bytes") return format_bytes(value);
  return grouped(value);
}

std::string format_difference(const Metric& metric, const Change& change) {
  if (change.is_same()) return "0";
  return (change.difference() > 0 ? "+" : "-") + format_amount(metric, std::abs(change.difference()));
}

std::string format_ratio(const Change& change, Presence presence) {
  if (change.before <= 0 && change.after <= 0) return {};
  if (presence != Presence::Both) return presence == Presence::OnlyAfter ? "new" : "gone";
  if (change.before <= 0) return "from 0";
  return change.after <= 0 ? "to 0" : times(change.after / change.before);
}

std::string format_change(const Metric& metric, const Change& change) {
  const std::string now = format_amount(metric, change.after);
  if (change.is_same()) return "the same, " + now;
  const std::string ratio =
      change.before > 0 && change.after > 0 ? " (" + times(change.after / change.before) + ")" : "";
  return fmt::format("{} instead of {}, {} {}{}", now, format_amount(metric, change.before),
                     format_amount(metric, std::abs(change.difference())),
                     change.difference() > 0 ? "more" : "less", ratio);
}

std::string format_total_change(const CallTree& tree, size_t metric) {
  const Compared& compared = *tree.compared;
  const Metric& what = tree.metric(metric);
  const Change total{tree.totals[compared.before(metric)], tree.totals[compared.after(metric)]};
  if (!compared.was_measured_before(metric))
    return fmt::format("{}: {}; it was not measured before", what.name, format_amount(what, total.after));
  if (!compared.was_measured_after(metric))
    return fmt::format("{}: {} before; it was not measured after", what.name,
                       format_amount(what, total.before));
  return fmt::format("{}: {}", what.name, format_change(what, total));
}

std::string format_function_change(const CallTree& tree, const FunctionChange& change, size_t metric) {
  const Metric& what = tree.metric(metric);
  switch (change.presence) {
    case Presence::OnlyAfter:
      return format_amount(what, change.exclusive.after) + ", new";
    case Presence::OnlyBefore:
      return "gone: was " + format_amount(what, change.exclusive.before);
    case Presence::Both:
      break;
  }
  return format_change(what, change.exclusive);
}

std::string format_scale(const CallTree& tree, size_t metric) {
  const Compared& compared = *tree.compared;
  const double scale = compared.scale[metric];
  if (scale == 1) return {};
  return fmt::format("the costs {} are scaled by {:.3g} to equal totals",
                     compared.is_second_before ? "before" : "after", scale);
}

}  // namespace prof
