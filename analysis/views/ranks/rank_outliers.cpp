// Ranks and nodes that take longer for something than nearly all others.

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>

#include "analysis/views/ranks/rank_comparison.h"

namespace prof {
namespace {

// An outlier is this many robust deviations above the median (1.4826 times the median distance is the
// standard deviation of a normal distribution).
constexpr double kDeviations = 6, kNormal = 1.4826;
constexpr double kNoticeableRatio = 1.1;
constexpr double kMajorityOfNode = 0.75;

class Outliers {
 public:
  explicit Outliers(RankComparison& comparison)
      : comparison_(comparison),
        report_(comparison.report()),
        ranks_(comparison.ranks()),
        locations_(comparison.all_locations()),
        tracks_(comparison.track_locations()) {}

  void find() {
    for (const ComparedQuantity& compared : compared_quantities()) {
      report_.statistics.push_back(statistics_of(compared.quantity, comparison_.values_of(compared.of)));
      if (compared.is_judged) find_outliers(compared);
    }
    std::ranges::stable_sort(report_.outliers, std::greater(), &RankOutlier::share);
  }

 private:
  // Values of a quantity, by rank, and the value of which a tenth makes a difference.
  struct Judged {
    RankQuantity quantity;
    bool is_sampled;
    bool is_of_track;
    double whole;
    RankValues values;
  };

  double typical_time() const { return report_.find(RankQuantity::Time)->median; }

  // Compares the communicating thread first, then all threads of a rank, which may compute more in other
  // threads, or leave files and devices to them.
  void find_outliers(const ComparedQuantity& compared) {
    if (compared.of_track)
      find_outliers({compared.quantity, compared.is_sampled, comparison_.has_threads(),
                     comparison_.typical_track(), comparison_.values_of(compared.of_track)});
    const bool is_of_all = compared.quantity == RankQuantity::Compute;
    find_outliers({compared.quantity, compared.is_sampled, false,
                   is_of_all ? typical_time() : comparison_.typical_track(),
                   comparison_.values_of(compared.of)});
  }

  void find_outliers(const Judged& judged) {
    const RankValues& values = judged.values;
    const RankStatistics statistics = statistics_of(judged.quantity, values);
    const double median = statistics.median;
    double least = std::max(kDeviations * kNormal * statistics.deviation, kMinShare * judged.whole);
    if (judged.is_sampled) least = std::max(least, kChance * comparison_.chance(median));
    std::vector<uint32_t> slow;
    for (uint32_t r = 0; r < values.size(); ++r)
      if (values[r] - median > least && values[r] > kNoticeableRatio * median &&
          !is_known(judged.quantity, r))
        slow.push_back(r);
    if (slow.empty()) return;
    std::vector<uint32_t> single;
    for (auto& [node, of_node] : by_node(slow)) {
      const auto all = static_cast<size_t>(std::ranges::count(ranks_, node, &RankCost::node));
      std::vector<uint32_t> rather_slow;
      for (uint32_t r = 0; r < values.size(); ++r)
        if (ranks_[r].node == node && values[r] - median > least / 2) rather_slow.push_back(r);
      // Some ranks of a slow node may not be outliers, by chance. One rank shows nothing about its node, and
      // there must be another node.
      const bool is_whole = all >= 2 && all < ranks_.size() && rather_slow.size() == all &&
                            static_cast<double>(of_node.size()) >= kMajorityOfNode * static_cast<double>(all);
      if (is_whole)
        add_outlier(judged, median, rather_slow, node);
      else
        single.insert(single.end(), of_node.begin(), of_node.end());
    }
    if (single.empty()) return;
    std::ranges::sort(single);
    add_outlier(judged, median, single, {});
  }

  bool is_known(RankQuantity quantity, uint32_t rank) const {
    return std::ranges::any_of(report_.outliers, [&](const RankOutlier& outlier) {
      return outlier.quantity == quantity && std::ranges::binary_search(outlier.ranks, rank);
    });
  }

  std::map<std::string, std::vector<uint32_t>> by_node(const std::vector<uint32_t>& ranks) const {
    std::map<std::string, std::vector<uint32_t>> nodes;
    for (const uint32_t r : ranks) nodes[ranks_[r].node].push_back(r);
    return nodes;
  }

  void add_outlier(const Judged& judged, double median, const std::vector<uint32_t>& slow,
                   const std::string& node) {
    assert(std::ranges::is_sorted(slow));  // is_known() searches them
    RankOutlier outlier{.quantity = judged.quantity, .ranks = slow, .node = node, .median = median};
    outlier.seconds = mean_of(judged.values, slow);
    outlier.is_of_track = judged.is_of_track;
    outlier.share = judged.whole > 0 ? outlier.excess() / judged.whole : 0;
    if (only_lacks_processor(outlier)) return;
    const double others_wait = outlier.share * comparison_.typical_track();
    const DenseRankLocations& own = judged.is_of_track ? tracks_ : locations_;
    double most = 0;
    for (size_t i = 0; i < own.size(); ++i) {
      if (quantity_of(comparison_.activity(own, i)) != outlier.quantity) continue;
      const double more = mean_of(own.costs(i), slow) - lower_median(own.costs(i));
      if (more <= most) continue;
      most = more;
      outlier.location = own.location(i);
    }
    for (size_t i = 0; i < tracks_.size(); ++i) {
      if (comparison_.activity(tracks_, i) != RankActivity::Communication) continue;
      const double longer = mean_of_others(tracks_.costs(i), slow) - mean_of(tracks_.costs(i), slow);
      if (longer <= outlier.awaited_s || longer <= kExplained * others_wait) continue;
      outlier.awaited_in = tracks_.location(i);
      outlier.awaited_s = longer;
    }
    if (outlier.quantity == RankQuantity::Copies) {
      const RankValues bytes = comparison_.values_of([](const RankCost& rank) { return rank.copied_bytes; });
      if (const double typical = lower_median(bytes); typical > 0)
        outlier.bytes_ratio = mean_of(bytes, slow) / typical;
    }
    report_.outliers.push_back(std::move(outlier));
  }

  // True if a rank is slow only because it had no processor. Applies to elapsed time: in CPU time, a rank
  // that computes longer is slow whatever processors there are.
  bool only_lacks_processor(const RankOutlier& outlier) {
    if (outlier.quantity != RankQuantity::Compute || !comparison_.is_of_clock() ||
        comparison_.computes_longer(outlier.ranks, outlier.share * comparison_.typical_track()))
      return false;
    return comparison_.lacked_processors({});
  }

  RankComparison& comparison_;
  RankReport& report_;
  const std::vector<RankCost>& ranks_;
  const DenseRankLocations& locations_;
  const DenseRankLocations& tracks_;
};

}  // namespace

void find_rank_outliers(RankComparison& comparison) {
  Outliers(comparison).find();
}

}  // namespace prof
