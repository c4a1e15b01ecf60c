// Finds which ranks wait for which: imbalances by sums over the run, and ranks that are late alternately by
// the traces.

#include <algorithm>
#include <functional>
#include <numeric>

#include "analysis/views/ranks/rank_comparison.h"

namespace prof {
namespace {

// If one rank causes this share of the lateness, ranks are not late in turn.
constexpr double kMajorityOfLateness = 0.75;

class Waits {
 public:
  explicit Waits(RankComparison& comparison)
      : comparison_(comparison),
        report_(comparison.report()),
        ranks_(comparison.ranks()),
        locations_(comparison.all_locations()),
        tracks_(comparison.track_locations()) {}

  void find() {
    find_imbalances();
    find_late();
  }

 private:
  void find_imbalances() {
    for (size_t i = 0; i < tracks_.size(); ++i) {
      if (comparison_.activity(tracks_, i) != RankActivity::Communication) continue;
      const RankValues& waits = tracks_.costs(i);
      RankImbalance imbalance;
      imbalance.location = tracks_.location(i);
      for (const double wait : waits) imbalance.seconds += wait / static_cast<double>(waits.size());
      const double least = *std::ranges::min_element(waits);
      // The late ranks are those that wait nearly as little as the one that waits least.
      const double border = least + (imbalance.seconds - least) / 3;
      for (uint32_t r = 0; r < waits.size(); ++r)
        if (waits[r] <= border) imbalance.late.push_back(r);
      imbalance.avoidable = imbalance.seconds - mean_of(waits, imbalance.late);
      if (imbalance.avoidable < kMinShare * comparison_.typical_track() ||
          imbalance.avoidable < kChance * comparison_.chance(imbalance.seconds) || is_explained(imbalance))
        continue;
      blame(imbalance);
      if (only_lacks_processors(imbalance)) continue;
      report_.imbalances.push_back(std::move(imbalance));
    }
    std::ranges::stable_sort(report_.imbalances, std::greater(), &RankImbalance::avoidable);
  }

  // The late ranks are known to be slow.
  bool is_explained(const RankImbalance& imbalance) const {
    return std::ranges::all_of(imbalance.late, [&](uint32_t rank) {
      return std::ranges::any_of(report_.outliers, [&](const RankOutlier& outlier) {
        return std::ranges::binary_search(outlier.ranks, rank);
      });
    });
  }

  // If the late ranks' communicating threads wait for other threads, blames what those threads do.
  void blame(RankImbalance& imbalance) const {
    blame(imbalance, tracks_, false);
    if (imbalance.blamed != kNone &&
        report_.costs.locations[imbalance.blamed].activity == RankActivity::Threads)
      blame(imbalance, locations_, true);
    if (imbalance.blamed != kNone || comparison_.is_of_clock()) return;
    const RankValues tracks = comparison_.values_of([](const RankCost& rank) { return rank.track_s; });
    imbalance.late_sleep =
        mean_of_others(tracks, imbalance.late) - mean_of(tracks, imbalance.late) > imbalance.avoidable / 2;
  }

  void blame(RankImbalance& imbalance, const DenseRankLocations& locations, bool is_computing) const {
    double most = 0;
    for (size_t i = 0; i < locations.size(); ++i) {
      if (comparison_.activity(locations, i) == RankActivity::Communication ||
          (is_computing && comparison_.activity(locations, i) != RankActivity::Compute))
        continue;
      const RankValues& costs = locations.costs(i);
      const double late = mean_of(costs, imbalance.late);
      const double more = late - mean_of_others(costs, imbalance.late);
      if (more <= most || more < kExplained * imbalance.avoidable ||
          more < kChance * comparison_.chance(late))
        continue;
      most = more;
      imbalance.blamed = locations.location(i);
      imbalance.blamed_s = more;
    }
  }

  // No work that takes CPU time explains the wait.
  bool only_lacks_processors(const RankImbalance& imbalance) {
    if (comparison_.is_of_clock() ? comparison_.computes_longer(imbalance.late, imbalance.avoidable)
                                  : imbalance.blamed != kNone)
      return false;
    // The late ranks were late because they had no processor, whatever the others had.
    if (comparison_.lack_of_processors(imbalance.late) > imbalance.avoidable / 2) return true;
    std::vector<uint32_t> waiting;
    for (uint32_t r = 0; r < ranks_.size(); ++r)
      if (!std::ranges::binary_search(imbalance.late, r)) waiting.push_back(r);
    return comparison_.lacked_processors(waiting);
  }

  // The waiting time of a rank, the mean, that nothing above explains.
  double unexplained() const {
    double waits = 0;
    for (const RankCost& rank : ranks_)
      waits += rank.track_by_activity[static_cast<size_t>(RankActivity::Communication)] /
               static_cast<double>(ranks_.size());
    double longest = 0;
    for (const RankOutlier& outlier : report_.outliers) longest = std::max(longest, outlier.awaited_s);
    for (const RankImbalance& imbalance : report_.imbalances) waits -= imbalance.avoidable;
    return waits - longest;
  }

  void find_late() {
    const double waits = unexplained();
    if (waits < kMinShare * comparison_.typical_track() || report_.had_processor) return;
    std::vector<uint32_t> all(ranks_.size());
    std::iota(all.begin(), all.end(), 0);
    if (comparison_.lacked_processors(all)) return;
    const std::vector<TraceSource>& traces = comparison_.tree().database->traces;
    report_.would_need_traces =
        std::ranges::none_of(traces, [](const TraceSource& trace) { return bool{trace}; });
    if (report_.would_need_traces) return;
    report_.late = late_ranks(comparison_.tree(), report_.costs, comparison_.period_s(), comparison_.jobs());
    if (!report_.late || report_.late->by_rank.empty()) return;
    const double latest = *std::ranges::max_element(report_.late->by_rank);
    const double for_others = std::min(report_.late->blamed_s / static_cast<double>(ranks_.size()), waits);
    if (latest > kMajorityOfLateness * report_.late->blamed_s ||
        for_others < kMinShare * comparison_.typical_track() ||
        for_others < kChance * comparison_.chance(for_others))
      return;
    report_.late_by_turns_s = for_others;
  }

  RankComparison& comparison_;
  RankReport& report_;
  const std::vector<RankCost>& ranks_;
  const DenseRankLocations& locations_;
  const DenseRankLocations& tracks_;
};

}  // namespace

void find_rank_waits(RankComparison& comparison) {
  Waits(comparison).find();
}

}  // namespace prof
