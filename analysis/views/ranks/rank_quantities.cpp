#include "analysis/views/ranks/rank_quantities.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace prof {
namespace {

constexpr size_t kComparedLocations = 96;

constexpr Spelling<RankQuantity> kQuantities[] = {
    {RankQuantity::Time, "time"},       {RankQuantity::Cpu, "cpu"},
    {RankQuantity::Compute, "compute"}, {RankQuantity::Communication, "communication"},
    {RankQuantity::Threads, "threads"}, {RankQuantity::Io, "io"},
    {RankQuantity::Device, "device"},   {RankQuantity::Start, "start"},
    {RankQuantity::Kernels, "kernels"}, {RankQuantity::Copies, "copies"},
};

}  // namespace

template <>
std::span<const Spelling<RankQuantity>> spellings() {
  return kQuantities;
}

RankQuantity quantity_of(RankActivity activity) {
  return static_cast<RankQuantity>(static_cast<uint8_t>(RankQuantity::Compute) +
                                   static_cast<uint8_t>(activity));
}

double lower_median(RankValues values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

RankStatistics statistics_of(RankQuantity quantity, const RankValues& values) {
  RankStatistics statistics;
  statistics.quantity = quantity;
  const auto count = static_cast<double>(values.size());
  statistics.minimum = *std::ranges::min_element(values);
  statistics.maximum = *std::ranges::max_element(values);
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  statistics.mean = sum / count;
  for (const double value : values) squares += (value - statistics.mean) * (value - statistics.mean);
  statistics.stddev = std::sqrt(squares / count);
  statistics.median = lower_median(values);
  RankValues distances;
  for (const double value : values) distances.push_back(std::abs(value - statistics.median));
  statistics.deviation = lower_median(std::move(distances));
  return statistics;
}

const std::vector<ComparedQuantity>& compared_quantities() {
  static const auto kActivity = [](RankActivity activity, bool is_judged) -> ComparedQuantity {
    const auto at = static_cast<size_t>(activity);
    return {quantity_of(activity), is_judged, true,
            [at](const RankCost& rank) { return rank.by_activity[at]; },
            [at](const RankCost& rank) { return rank.track_by_activity[at]; }};
  };
  static const std::vector<ComparedQuantity> kAll = {
      {RankQuantity::Time, false, true, [](const RankCost& rank) { return rank.seconds; }},
      {RankQuantity::Cpu, false, true, [](const RankCost& rank) { return rank.cpu_s; }},
      kActivity(RankActivity::Compute, true),
      kActivity(RankActivity::Communication, false),
      kActivity(RankActivity::Threads, false),
      kActivity(RankActivity::Io, true),
      kActivity(RankActivity::Device, true),
      kActivity(RankActivity::Start, false),
      {RankQuantity::Kernels, true, false, [](const RankCost& rank) { return rank.kernels_s; }},
      {RankQuantity::Copies, true, false, [](const RankCost& rank) { return rank.copies_s; }}};
  return kAll;
}

DenseRankLocations::DenseRankLocations(const RankCosts& costs, bool of_track) {
  const auto locations_of = [of_track](const RankCost& rank) -> const RankCost::Locations& {
    return of_track ? rank.locations_of_track() : rank.locations;
  };
  RankValues sums(costs.locations.size()), most(costs.locations.size());
  for (const RankCost& rank : costs.ranks) {
    for (const auto& [location, cost] : locations_of(rank)) {
      sums[location] += cost;
      most[location] = std::max(most[location], cost);
    }
  }
  std::set<uint32_t> chosen;
  for (const RankValues& weights : {sums, most}) {
    std::vector<uint32_t> order;
    for (uint32_t location = 0; location < weights.size(); ++location)
      if (weights[location] > 0) order.push_back(location);
    std::ranges::stable_sort(order, std::greater(), [&](uint32_t location) { return weights[location]; });
    for (size_t i = 0; i < std::min(order.size(), kComparedLocations / 2); ++i) chosen.insert(order[i]);
  }
  locations_.assign(chosen.begin(), chosen.end());
  std::map<uint32_t, size_t> at;
  for (size_t i = 0; i < locations_.size(); ++i) at[locations_[i]] = i;
  costs_.assign(locations_.size(), RankValues(costs.ranks.size()));
  for (size_t r = 0; r < costs.ranks.size(); ++r)
    for (const auto& [location, cost] : locations_of(costs.ranks[r]))
      if (const auto known = at.find(location); known != at.end()) costs_[known->second][r] = cost;
}

}  // namespace prof
