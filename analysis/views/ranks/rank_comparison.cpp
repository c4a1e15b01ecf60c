#include "analysis/views/ranks/rank_comparison.h"

#include <algorithm>
#include <cmath>

namespace prof {

namespace {

constexpr double kDefaultPeriodSeconds = 1e-3;  // of the default rate
constexpr double kMajorityOfRank = 0.9;

double period_of(const CallTree& tree, const RunSummary& run, const RankReport& report) {
  const auto sampling = run.by_metric.find(tree.metric(report.costs.metric).name);
  const bool is_known = sampling != run.by_metric.end() && sampling->second.requested_hz.value_or(0) > 0;
  return is_known ? 1 / *sampling->second.requested_hz : kDefaultPeriodSeconds;
}

}  // namespace

double mean_of(const RankValues& values, const std::vector<uint32_t>& ranks) {
  double sum = 0;
  for (const uint32_t r : ranks) sum += values[r];
  return ranks.empty() ? 0 : sum / static_cast<double>(ranks.size());
}

double mean_of_others(const RankValues& values, const std::vector<uint32_t>& ranks) {
  double sum = 0;
  for (const double value : values) sum += value;
  const auto others = static_cast<double>(values.size() - ranks.size());
  return others > 0 ? (sum - mean_of(values, ranks) * static_cast<double>(ranks.size())) / others : 0;
}

RankComparison::RankComparison(const CallTree& tree, const RunSummary& run, RankReport& report, int jobs)
    : tree_(tree),
      report_(report),
      all_locations_(report.costs, false),
      track_locations_(report.costs, true),
      processors_(tree, run, report.costs),
      period_s_(period_of(tree, run, report)),
      jobs_(jobs) {
  report.track =
      statistics_of(RankQuantity::Time, values_of([](const RankCost& rank) { return rank.track_s; }));
  // Helper threads that cost less are not reported.
  has_threads_ = std::ranges::any_of(
      ranks(), [](const RankCost& rank) { return rank.track_s < kMajorityOfRank * rank.seconds; });
}

RankValues RankComparison::values_of(const RankQuantityOf& of) const {
  RankValues values;
  for (const RankCost& rank : ranks()) values.push_back(of(rank));
  return values;
}

double RankComparison::chance(double seconds) const {
  return std::sqrt(period_s_ * std::max(seconds, period_s_));
}

bool RankComparison::is_of_clock() const {
  return tree_.metric(report_.costs.metric).name == "REALTIME";
}

bool RankComparison::computes_longer(const std::vector<uint32_t>& late, double seconds) const {
  const RankValues cpu = values_of([](const RankCost& rank) { return rank.track_compute_cpu_s; });
  return mean_of(cpu, late) - mean_of_others(cpu, late) > kExplained * seconds;
}

bool RankComparison::lacked_processors(const std::vector<uint32_t>& waiting) {
  const std::optional<double> share = processors_.of(waiting, period_s_, jobs_);
  if (!share || *share >= kHadProcessor) return false;
  report_.had_processor = std::min(*share, report_.had_processor.value_or(1));
  return true;
}

double RankComparison::lack_of_processors(const std::vector<uint32_t>& ranks) {
  return processors_.lack_of(ranks, period_s_, jobs_);
}

}  // namespace prof
