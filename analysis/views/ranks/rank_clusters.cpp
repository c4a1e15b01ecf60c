// Groups of ranks that spend their time alike.

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/views/ranks/rank_comparison.h"

namespace prof {
namespace {

// Two profiles are alike if their shares differ by less, added up over all locations (at most 2).
constexpr double kAlike = 0.2;

class Clusters {
 public:
  explicit Clusters(const RankComparison& comparison)
      : comparison_(comparison),
        report_(comparison.report()),
        ranks_(comparison.ranks()),
        locations_(comparison.all_locations()) {}

  // Each rank joins the first cluster whose first rank is like it.
  void find() {
    std::vector<RankValues> patterns;
    report_.cluster_of.assign(ranks_.size(), 0);
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      const RankValues shares = shares_of(r);
      size_t at = 0;
      while (at < patterns.size() &&
             !are_alike(patterns[at], shares, ranks_[r].seconds / comparison_.period_s()))
        ++at;
      if (at == patterns.size() && at < kMaxClusters) {
        patterns.push_back(shares);
        report_.clusters.emplace_back();
      }
      report_.clusters[std::min(at, kMaxClusters - 1)].ranks.push_back(r);
    }
    std::ranges::stable_sort(report_.clusters, std::greater(),
                             [](const RankCluster& cluster) { return cluster.ranks.size(); });
    for (uint32_t c = 0; c < report_.clusters.size(); ++c) {
      describe(report_.clusters[c]);
      for (const uint32_t r : report_.clusters[c].ranks) report_.cluster_of[r] = c;
    }
  }

 private:
  RankValues shares_of(uint32_t rank) const {
    RankValues shares(locations_.size());
    if (ranks_[rank].seconds <= 0) return shares;
    for (size_t i = 0; i < locations_.size(); ++i)
      shares[i] = locations_.costs(i)[rank] / ranks_[rank].seconds;
    return shares;
  }

  // Returns how much the shares of two ranks differ, beyond the effect of sampling.
  bool are_alike(const RankValues& a, const RankValues& b, double samples) const {
    double distance = 0, noise = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      distance += std::abs(a[i] - b[i]);
      noise += std::sqrt(2 * std::max(a[i], b[i]) / std::max(samples, 1.0));
    }
    return distance < kAlike + noise;
  }

  void describe(RankCluster& cluster) const {
    std::vector<std::pair<double, uint32_t>> costs;
    for (size_t i = 0; i < locations_.size(); ++i)
      costs.emplace_back(-mean_of(locations_.costs(i), cluster.ranks), locations_.location(i));
    for (const uint32_t r : cluster.ranks)
      cluster.seconds += ranks_[r].seconds / static_cast<double>(cluster.ranks.size());
    std::ranges::sort(costs);
    for (size_t i = 0; i < std::min<size_t>(costs.size(), 3); ++i) {
      if (costs[i].first == 0) break;
      cluster.locations.push_back(costs[i].second);
      cluster.shares.push_back(-costs[i].first / cluster.seconds);
    }
  }

  const RankComparison& comparison_;
  RankReport& report_;
  const std::vector<RankCost>& ranks_;
  const DenseRankLocations& locations_;
};

}  // namespace

void find_rank_clusters(const RankComparison& comparison) {
  Clusters(comparison).find();
}

}  // namespace prof
