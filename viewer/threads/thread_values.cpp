#include "viewer/threads/thread_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "analysis/database/stored_values.h"

namespace prof::viewer {

namespace {

constexpr double kTukey = 1.5;
constexpr double kSame = 0.05;  // of the median

// Returns the contexts whose values are added up: the outermost ones of the function, or all with its self
// cost.
std::vector<uint32_t> contexts_of(const CallTree& tree, std::optional<uint32_t> frame, CostKind kind) {
  const std::vector<Context>& contexts = tree.database->contexts;
  std::vector<uint32_t> wanted;
  std::vector<bool> is_covered(contexts.size());
  for (uint32_t c = 0; c < contexts.size(); ++c) {
    const uint32_t parent = contexts[c].parent;
    const bool is_below = parent != kNone && is_covered[parent];
    const bool is_it =
        frame ? tree.nodes[tree.node_of[c]].frame == *frame && starts_frame(contexts[c]) : parent == kNone;
    is_covered[c] = is_below || is_it;
    if (is_it && (kind == CostKind::Exclusive || !is_below)) wanted.push_back(c);
  }
  return wanted;
}

double value_at(std::span<const ProfileValue> values, uint32_t context, uint32_t metric, CostKind kind) {
  const auto at = std::ranges::lower_bound(
      values, std::pair(context, metric), {},
      [](const ProfileValue& value) { return std::pair(value.context, value.metric); });
  if (at == values.end() || at->context != context || at->metric != metric) return 0;
  return kind == CostKind::Inclusive ? at->values.inclusive : at->values.exclusive;
}

// If recursion is folded, a function's cost is that of the nodes below it, not of the contexts.
std::vector<double> folded_values(const CallTree& tree, uint32_t metric, uint32_t frame) {
  std::vector<bool> is_below(tree.nodes.size());
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
    const CallNode& node = tree.nodes[n];
    is_below[n] = node.frame == frame || (node.parent != kNone && is_below[node.parent]);
  }
  std::vector<double> values;
  std::vector<ProfileValue> buffer;
  for (uint32_t profile = 0; profile < tree.database->profiles.size(); ++profile) {
    double sum = 0;
    for (const ProfileValue& value : values_of(*tree.database, profile, buffer, metric))
      if (value.metric == metric && starts_frame(tree.database->contexts[value.context]) &&
          is_below[tree.node_of[value.context]])
        sum += value.values.exclusive;
    values.push_back(sum);
  }
  return values;
}

// Interpolates between neighbours, as most tools do.
double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<double> thread_values(const CallTree& tree, uint32_t metric, std::optional<uint32_t> frame,
                                  CostKind kind) {
  // For a whole program, all cost is self cost.
  if (!frame) kind = CostKind::Inclusive;
  if (frame && tree.is_folded && kind == CostKind::Inclusive) return folded_values(tree, metric, *frame);
  const std::vector<uint32_t> contexts = contexts_of(tree, frame, kind);
  std::vector<double> values;
  std::vector<ProfileValue> buffer;
  for (uint32_t profile = 0; profile < tree.database->profiles.size(); ++profile) {
    const std::span<const ProfileValue> all = values_of(*tree.database, profile, buffer, metric);
    double sum = 0;
    for (const uint32_t context : contexts) sum += value_at(all, context, metric, kind);
    values.push_back(sum);
  }
  return values;
}

std::vector<uint32_t> comparable(const Database& database, const std::vector<double>& values) {
  bool any_of_kind[] = {false, false};  // threads, queues
  const auto kind = [&](uint32_t profile) { return database.profiles[profile].id.device >= 0 ? 1 : 0; };
  for (uint32_t profile = 0; profile < values.size(); ++profile)
    if (values[profile] != 0) any_of_kind[kind(profile)] = true;
  const bool is_of_one_kind = any_of_kind[0] != any_of_kind[1];
  std::vector<uint32_t> profiles;
  for (uint32_t profile = 0; profile < values.size(); ++profile)
    if (!is_of_one_kind || any_of_kind[kind(profile)]) profiles.push_back(profile);
  return profiles;
}

Distribution distribution(std::vector<double> values) {
  Distribution result;
  if (values.empty()) return result;
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  result.minimum = values.front();
  result.maximum = values.back();
  result.first_quartile = quantile(values, 0.25);
  result.median = quantile(values, 0.5);
  result.third_quartile = quantile(values, 0.75);
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.stddev = std::sqrt(squares / count);
  const double reach = kTukey * (result.third_quartile - result.first_quartile);
  const double same = kSame * std::abs(result.median);
  result.low = std::min(result.first_quartile - reach, result.median - same);
  result.high = std::max(result.third_quartile + reach, result.median + same);
  return result;
}

size_t bin_of(double value, const Distribution& distribution, size_t bins) {
  const double range = distribution.maximum - distribution.minimum;
  if (range <= 0) return 0;
  const auto bin = static_cast<size_t>((value - distribution.minimum) / range * static_cast<double>(bins));
  return std::min(bin, bins - 1);
}

std::vector<size_t> histogram(const std::vector<double>& values, const Distribution& distribution,
                              size_t bins) {
  std::vector<size_t> counts(bins);
  for (const double value : values) ++counts[bin_of(value, distribution, bins)];
  return counts;
}

}  // namespace prof::viewer
