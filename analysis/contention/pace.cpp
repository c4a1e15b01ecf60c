#include "analysis/contention/pace.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace prof {
namespace {

constexpr size_t kFewest = 2;      // of each kind, for any result
constexpr double kEven = 0.6;      // half of the rates lie in a band of this width around the middle
constexpr double kHighPart = 0.9;  // quantile of the rates that bounds an interval
constexpr double kSameWay = 0.85;  // of the rates, that is, nearly all
// The slowdown of a thread next to another one if both have data of their own: two hardware threads of a core
// run at about 0.62 of its speed each.
constexpr double kSideBySide = 1.6;
constexpr double kMinOfWeight = 0.5;  // of the time at contended lines, lost to contention

double at_part(const std::vector<double>& rates, double part) {
  assert(!rates.empty() && std::ranges::is_sorted(rates));
  return rates[static_cast<size_t>(std::llround(part * static_cast<double>(rates.size() - 1)))];
}

double middle(std::vector<double> rates) {
  std::ranges::sort(rates);
  return (at_part(rates, 0.5) + rates[(rates.size() - 1) / 2]) / 2;
}

bool is_even(std::vector<double> rates) {
  std::ranges::sort(rates);
  return at_part(rates, 0.75) - at_part(rates, 0.25) <= kEven * std::abs(at_part(rates, 0.5));
}

bool go_one_way(const std::vector<double>& rates, double sign) {
  const auto same = std::ranges::count_if(rates, [=](double rate) { return rate * sign > 0; });
  return static_cast<double>(same) >= kSameWay * static_cast<double>(rates.size());
}

}  // namespace

bool agrees_with_samples(const PaceCost& saving_s, double weight_s) {
  return saving_s.high >= kMinOfWeight * weight_s;
}

void Paces::add(uint32_t thread, const PaceChange& change) {
  if (change.cpu_ns == 0) return;
  Rates& rates = values_[{thread, change.line}][change.value];
  (change.is_alone ? rates.alone : rates.together)
      .push_back(static_cast<double>(change.change) / static_cast<double>(change.cpu_ns));
}

// Compares the rates together with those alone; a ratio below 1 means that the others cost something.
std::optional<PaceCost> Paces::cost_of(const Rates& rates) {
  if (rates.alone.size() < kFewest || rates.together.size() < kFewest) return std::nullopt;
  const double alone = middle(rates.alone), together = middle(rates.together);
  if (together == 0 || !is_even(rates.alone) || !go_one_way(rates.alone, alone) ||
      !go_one_way(rates.together, alone))
    return std::nullopt;
  const auto speeds = [&](std::vector<double> of) {
    for (double& rate : of) rate = std::abs(rate);
    std::ranges::sort(of);
    return of;
  };
  const std::vector<double> fast = speeds(rates.alone), slow = speeds(rates.together);
  const auto saved = [](double remaining) { return std::clamp(1 - remaining, 0.0, 1.0); };
  // An unobserved window would lie outside of all n observed ones in about 1 of n + 1 cases.
  const double unseen = 1.0 / static_cast<double>(1 + std::min(fast.size(), slow.size()));
  PaceCost cost;
  cost.value = saved(together / alone);
  cost.low = std::min(cost.value, saved((1 + unseen) * kSideBySide * at_part(slow, kHighPart) /
                                        at_part(fast, 1 - kHighPart)));
  cost.high =
      std::max(cost.value, saved((1 - unseen) * at_part(slow, 1 - kHighPart) / at_part(fast, kHighPart)));
  return cost;
}

std::optional<PaceCost> Paces::cost(uint32_t thread, const std::vector<uint64_t>& lines) const {
  std::vector<PaceCost> costs;
  for (const uint64_t line : lines) {
    const auto known = values_.find({thread, line});
    if (known == values_.end()) continue;
    for (const auto& [value, rates] : known->second)
      if (const std::optional<PaceCost> one = cost_of(rates)) costs.push_back(*one);
  }
  if (costs.empty()) return std::nullopt;
  const auto middle_of = [&](double PaceCost::*part) {
    std::vector<double> all;
    for (const PaceCost& cost : costs) all.push_back(cost.*part);
    return middle(std::move(all));
  };
  return PaceCost{middle_of(&PaceCost::value), middle_of(&PaceCost::low), middle_of(&PaceCost::high)};
}

}  // namespace prof
