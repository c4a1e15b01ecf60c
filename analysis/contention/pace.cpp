#include "analysis/contention/pace.h"

#include <algorithm>
#include <cmath>

namespace prof {
namespace {

constexpr size_t kFewest = 2;      // of each kind, to say anything
constexpr double kEven = 0.6;      // half of the rates lie in a band of this width about the middle
constexpr double kSameWay = 0.85;  // of the rates, which is to say nearly all

// `rates` in order.
double at_part(const std::vector<double>& rates, double part) {
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

void Paces::add(uint32_t thread, const PaceChange& change) {
  if (change.cpu_ns == 0) return;
  Rates& rates = values_[{thread, change.line}][change.value];
  (change.is_alone ? rates.alone : rates.together)
      .push_back(static_cast<double>(change.change) / static_cast<double>(change.cpu_ns));
}

// Alone to together; more than 1 where the others cost something.
std::optional<double> Paces::ratio(const Rates& rates) {
  if (rates.alone.size() < kFewest || rates.together.size() < kFewest) return std::nullopt;
  const double alone = middle(rates.alone), together = middle(rates.together);
  if (together == 0 || !is_even(rates.alone) || !go_one_way(rates.alone, alone) ||
      !go_one_way(rates.together, alone))
    return std::nullopt;
  return alone / together;
}

std::optional<double> Paces::cost(uint32_t thread, const std::vector<uint64_t>& lines) const {
  std::vector<double> ratios;
  for (const uint64_t line : lines) {
    const auto known = values_.find({thread, line});
    if (known == values_.end()) continue;
    for (const auto& [value, rates] : known->second)
      if (const std::optional<double> one = ratio(rates)) ratios.push_back(*one);
  }
  if (ratios.empty()) return std::nullopt;
  return std::clamp(1 - 1 / middle(ratios), 0.0, 1.0);
}

}  // namespace prof
