#include "analysis/views/compare/comparison_in_words.h"

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

std::string words_for_amount(const Metric& metric, double value) {
  if (is_time(metric)) return words_for_duration(value);
  if (metric.unit == "bytes") return words_for_bytes(value);
  return grouped(value);
}

std::string words_for_difference(const Metric& metric, const Change& change) {
  if (change.is_same()) return "0";
  return (change.difference() > 0 ? "+" : "-") + words_for_amount(metric, std::abs(change.difference()));
}

std::string words_for_ratio(const Change& change, Presence presence) {
  if (change.before <= 0 && change.after <= 0) return {};
  if (presence != Presence::Both) return presence == Presence::OnlyAfter ? "new" : "gone";
  if (change.before <= 0) return "from 0";
  return change.after <= 0 ? "to 0" : times(change.after / change.before);
}

std::string words_for_change(const Metric& metric, const Change& change) {
  const std::string now = words_for_amount(metric, change.after);
  if (change.is_same()) return "the same, " + now;
  const std::string ratio =
      change.before > 0 && change.after > 0 ? " (" + times(change.after / change.before) + ")" : "";
  return fmt::format("{} instead of {}, {} {}{}", now, words_for_amount(metric, change.before),
                     words_for_amount(metric, std::abs(change.difference())),
                     change.difference() > 0 ? "more" : "less", ratio);
}

std::string total_in_words(const CallTree& tree, size_t metric) {
  const Compared& compared = *tree.compared;
  const Metric& what = tree.metric(metric);
  const Change total{tree.totals[compared.before(metric)], tree.totals[compared.after(metric)]};
  if (!compared.was_measured_before(metric))
    return fmt::format("{}: {}; it was not measured before", what.name, words_for_amount(what, total.after));
  if (!compared.was_measured_after(metric))
    return fmt::format("{}: {} before; it was not measured after", what.name,
                       words_for_amount(what, total.before));
  return fmt::format("{}: {}", what.name, words_for_change(what, total));
}

std::string change_in_words(const CallTree& tree, const FunctionChange& change, size_t metric) {
  const Metric& what = tree.metric(metric);
  switch (change.presence) {
    case Presence::OnlyAfter:
      return words_for_amount(what, change.exclusive.after) + ", new";
    case Presence::OnlyBefore:
      return "gone: was " + words_for_amount(what, change.exclusive.before);
    case Presence::Both:
      break;
  }
  return words_for_change(what, change.exclusive);
}

std::string scale_in_words(const CallTree& tree, size_t metric) {
  const Compared& compared = *tree.compared;
  const double scale = compared.scale[metric];
  if (scale == 1) return {};
  return fmt::format("the costs {} are scaled by {:.3g} to equal totals",
                     compared.is_second_before ? "before" : "after", scale);
}

}  // namespace prof
