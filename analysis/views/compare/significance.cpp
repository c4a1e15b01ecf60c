#include "analysis/views/compare/significance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace prof {
namespace {

// The weight of the common deviation, in runs. Smyth finds 3 to 5 in comparable data.
constexpr double kPriorDegrees = 4;
// A lower bound: counts that are equal to the last digit in three runs may still differ in the fourth.
constexpr double kMinDeviation = 0.005;

struct Side {
  double runs = 0;
  double mean = 0;
  double spread = 0;   // variance over the runs; 0 of one run
  double sampled = 0;  // mean variance by sampling
};

Side side_of(const std::vector<SampledCost>& costs) {
  Side side;
  side.runs = static_cast<double>(costs.size());
  for (const SampledCost& cost : costs) {
    side.mean += cost.cost / side.runs;
    side.sampled += cost.variance / side.runs;
  }
  for (const SampledCost& cost : costs)
    if (side.runs > 1) side.spread += (cost.cost - side.mean) * (cost.cost - side.mean) / (side.runs - 1);
  return side;
}

RunToRun run_to_run(const std::vector<Side>& sides) {
  double sum = 0, weights = 0;
  for (const Side& side : sides) {
    if (side.runs < 2 || side.mean <= 0) continue;
    const double weight = side.mean * (side.runs - 1);
    sum += weight * (side.spread - side.sampled) / (side.mean * side.mean);
    weights += weight;
  }
  if (weights <= 0) return {kAssumedDeviation, false};
  const bool are_few = std::ranges::any_of(
      sides, [](const Side& side) { return side.runs < static_cast<double>(kRunsThatTell); });
  return {std::max(std::sqrt(std::max(sum / weights, 0.0)), are_few ? kAssumedDeviation : kMinDeviation),
          true};
}

// The variance of a side's mean, and its degrees of freedom.
struct Estimate {
  double variance = 0;
  double degrees = 0;
};

Estimate estimate_of(const Side& side, const RunToRun& common) {
  const double expected = side.sampled + std::pow(common.deviation * side.mean, 2);
  const double own = side.runs - 1;
  const double moderated = (kPriorDegrees * expected + own * side.spread) / (kPriorDegrees + own);
  return {std::max(moderated, side.sampled) / side.runs, kPriorDegrees + own};
}

double p_of_difference(const Side& before, const Side& after, const RunToRun& common) {
  const double difference = after.mean - before.mean;
  const Estimate a = estimate_of(before, common), b = estimate_of(after, common);
  const double variance = a.variance + b.variance;
  if (difference == 0) return 1;
  if (variance <= 0) return 0;
  // Nothing was estimated from runs whose deviation is assumed.
  const double degrees =
      common.is_measured
          ? variance * variance / (a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees)
          : std::numeric_limits<double>::infinity();
  return p_of_t(difference / std::sqrt(variance), degrees);
}

// Lentz's continued fraction of the incomplete beta function (NIST, Digital Library of Mathematical
// Functions, 8.17.22).
double beta_fraction(double a, double b, double x) {
  constexpr int kSteps = 500;
  constexpr double kExact = 1e-14, kTiny = 1e-300;
  const auto apart = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / apart(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m <= kSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / apart(1 + even * d);
    c = apart(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / apart(1 + odd * d);
    c = apart(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < kExact) break;
  }
  return result;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

SampledCost sampled_cost(double cost, double all, double samples) {
  if (samples <= 0 || all <= 0) return {cost, 0};
  const double of_one = all / samples;
  const double share = std::clamp(cost / all, 0.0, 1.0);
  return {cost, of_one * (cost + of_one) * (1 - share)};
}

double p_of_t(double t, double degrees) {
  if (!std::isfinite(degrees)) return std::erfc(std::abs(t) / std::sqrt(2.0));
  return std::clamp(incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)), 0.0, 1.0);
}

std::vector<double> holm_adjusted(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, static_cast<double>(order.size() - rank) * p[order[rank]]);
    adjusted[order[rank]] = std::min(largest, 1.0);
  }
  return adjusted;
}

Judgement judge(const std::vector<RowOfRuns>& rows) {
  std::vector<Side> sides;
  for (const RowOfRuns& row : rows) {
    sides.push_back(side_of(row.before));
    sides.push_back(side_of(row.after));
  }
  Judgement judgement;
  judgement.run_to_run = run_to_run(sides);
  std::vector<double> p;
  for (size_t row = 0; row < rows.size(); ++row)
    p.push_back(p_of_difference(sides[2 * row], sides[2 * row + 1], judgement.run_to_run));
  const std::vector<double> adjusted = holm_adjusted(p);
  for (size_t row = 0; row < rows.size(); ++row) judgement.rows.push_back({p[row], adjusted[row]});
  return judgement;
}

}  // namespace prof
