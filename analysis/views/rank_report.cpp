#include "analysis/views/rank_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "analysis/views/wording.h"

namespace prof {
namespace {

// An outlier is so many robust deviations above the median (1.4826 of the median distance is the standard
// deviation of a normal distribution), so much of a rank's time, and so many standard deviations of what
// samples leave to chance.
constexpr double kDeviations = 6, kNormal = 1.4826;
constexpr double kLeastShare = 0.10;
constexpr double kChance = 5;
constexpr double kNoticeableRatio = 1.1;
constexpr double kMostOfNode = 0.75;
// Waiting that a slow rank explains is at least this part of what it takes longer.
constexpr double kExplained = 0.3;
// Two profiles are alike where their shares differ by less, added up over all places (at most 2).
constexpr double kAlike = 0.2;
constexpr size_t kComparedPlaces = 96;
constexpr double kDefaultPeriod = 1e-3;  // of the default rate
// Where one rank is late so much of the time, it is no turn of its.
constexpr double kMostOfOne = 0.75;

using Values = std::vector<double>;

double lower_median(Values values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

RankStatistics statistics_of(const std::string& name, const Values& values) {
  RankStatistics statistics;
  statistics.name = name;
  const auto count = static_cast<double>(values.size());
  statistics.minimum = *std::ranges::min_element(values);
  statistics.maximum = *std::ranges::max_element(values);
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  statistics.mean = sum / count;
  for (const double value : values) squares += (value - statistics.mean) * (value - statistics.mean);
  statistics.stddev = std::sqrt(squares / count);
  statistics.median = lower_median(values);
  Values distances;
  for (const double value : values) distances.push_back(std::abs(value - statistics.median));
  statistics.deviation = lower_median(std::move(distances));
  return statistics;
}

struct Quantity {
  const char* name;
  bool is_judged;  // else a rank that has more of it is no slower for that
  bool is_sampled;
  std::function<double(const RankCost&)> of;
};

const std::vector<Quantity>& quantities() {
  static const auto kOf = [](RankActivity activity) {
    return [activity](const RankCost& rank) { return rank.by_activity[static_cast<size_t>(activity)]; };
  };
  static const std::vector<Quantity> kAll = {
      {"time", false, true, [](const RankCost& rank) { return rank.seconds; }},
      {"cpu", false, true, [](const RankCost& rank) { return rank.cpu_s; }},
      {"compute", true, true, kOf(RankActivity::Compute)},
      {"communication", false, true, kOf(RankActivity::Communication)},
      {"threads", false, true, kOf(RankActivity::Threads)},
      {"io", true, true, kOf(RankActivity::Io)},
      {"device", true, true, kOf(RankActivity::Device)},
      {"start", false, true, kOf(RankActivity::Start)},
      {"kernels", true, false, [](const RankCost& rank) { return rank.kernels_s; }},
      {"copies", true, false, [](const RankCost& rank) { return rank.copies_s; }}};
  return kAll;
}

// The dearest places of all ranks, and those that are dear in any of them, with the costs of each rank.
class DensePlaces {
 public:
  explicit DensePlaces(const RankCosts& costs) {
    Values sums(costs.places.size()), most(costs.places.size());
    for (const RankCost& rank : costs.ranks) {
      for (const auto& [place, cost] : rank.places) {
        sums[place] += cost;
        most[place] = std::max(most[place], cost);
      }
    }
    std::set<uint32_t> chosen;
    for (const Values& weights : {sums, most}) {
      std::vector<uint32_t> order;
      for (uint32_t place = 0; place < weights.size(); ++place)
        if (weights[place] > 0) order.push_back(place);
      std::ranges::stable_sort(order, std::greater(), [&](uint32_t place) { return weights[place]; });
      for (size_t i = 0; i < std::min(order.size(), kComparedPlaces / 2); ++i) chosen.insert(order[i]);
    }
    places_.assign(chosen.begin(), chosen.end());
    std::map<uint32_t, size_t> at;
    for (size_t i = 0; i < places_.size(); ++i) at[places_[i]] = i;
    costs_.assign(places_.size(), Values(costs.ranks.size()));
    for (size_t r = 0; r < costs.ranks.size(); ++r)
      for (const auto& [place, cost] : costs.ranks[r].places)
        if (const auto known = at.find(place); known != at.end()) costs_[known->second][r] = cost;
  }

  size_t size() const { return places_.size(); }
  uint32_t place(size_t i) const { return places_[i]; }
  const Values& costs(size_t i) const { return costs_[i]; }  // by rank

 private:
  std::vector<uint32_t> places_;
  std::vector<Values> costs_;
};

class Comparison {
 public:
  Comparison(const CallTree& tree, const RunSummary& run, RankReport& report)
      : report_(report), ranks_(report.costs.ranks), dense_(report.costs) {
    const std::string& metric = tree.metric(report.costs.metric).name;
    const auto sampling = run.by_metric.find(metric);
    if (sampling != run.by_metric.end() && sampling->second.requested_hz.value_or(0) > 0)
      period_ = 1 / *sampling->second.requested_hz;
  }

  void compare(const CallTree& tree, int jobs) {
    for (const Quantity& quantity : quantities()) {
      const Values values = values_of(quantity);
      const RankStatistics& statistics =
          report_.statistics.emplace_back(statistics_of(quantity.name, values));
      if (quantity.is_judged) find_outliers(quantity, values, statistics);
    }
    std::ranges::stable_sort(report_.outliers, std::greater(), &RankOutlier::excess);
    find_imbalances();
    find_clusters();
    find_late(tree, jobs);
  }

 private:
  Values values_of(const Quantity& quantity) const {
    Values values;
    for (const RankCost& rank : ranks_) values.push_back(quantity.of(rank));
    return values;
  }

  double typical_time() const { return report_.find("time")->median; }
  // What chance makes of a cost that is sampled, as a standard deviation.
  double chance(double seconds) const { return std::sqrt(period_ * std::max(seconds, period_)); }

  void find_outliers(const Quantity& quantity, const Values& values, const RankStatistics& statistics) {
    const double median = statistics.median;
    double least = std::max(kDeviations * kNormal * statistics.deviation, kLeastShare * typical_time());
    if (quantity.is_sampled) least = std::max(least, kChance * chance(median));
    std::vector<uint32_t> slow;
    for (uint32_t r = 0; r < values.size(); ++r)
      if (values[r] - median > least && values[r] > kNoticeableRatio * median) slow.push_back(r);
    if (slow.empty()) return;
    std::vector<uint32_t> single;
    for (auto& [node, of_node] : by_node(slow)) {
      const auto all = static_cast<size_t>(std::ranges::count(ranks_, node, &RankCost::node));
      std::vector<uint32_t> rather_slow;
      for (uint32_t r = 0; r < values.size(); ++r)
        if (ranks_[r].node == node && values[r] - median > least / 2) rather_slow.push_back(r);
      // Chance spares one or the other. One rank says nothing of its node, and there has to be another node.
      const bool is_whole = all >= 2 && all < ranks_.size() && rather_slow.size() == all &&
                            static_cast<double>(of_node.size()) >= kMostOfNode * static_cast<double>(all);
      if (is_whole)
        add_outlier(quantity, values, median, rather_slow, node);
      else
        single.insert(single.end(), of_node.begin(), of_node.end());
    }
    if (single.empty()) return;
    std::ranges::sort(single);
    add_outlier(quantity, values, median, single, {});
  }

  std::map<std::string, std::vector<uint32_t>> by_node(const std::vector<uint32_t>& ranks) const {
    std::map<std::string, std::vector<uint32_t>> nodes;
    for (const uint32_t r : ranks) nodes[ranks_[r].node].push_back(r);
    return nodes;
  }

  void add_outlier(const Quantity& quantity, const Values& values, double median,
                   const std::vector<uint32_t>& slow, const std::string& node) {
    RankOutlier outlier{quantity.name, slow, node, 0, median, kNone, kNone, 0};
    for (const uint32_t r : slow) outlier.seconds += values[r] / static_cast<double>(slow.size());
    double most = 0;
    for (size_t i = 0; i < dense_.size(); ++i) {
      const uint32_t place = dense_.place(i);
      const RankActivity activity = report_.costs.places[place].activity;
      if (activity == RankActivity::Communication) {
        const double longer = mean_of_others(dense_.costs(i), slow) - mean_of(dense_.costs(i), slow);
        if (longer > outlier.awaited_s && longer > kExplained * outlier.excess()) {
          outlier.awaited_in = place;
          outlier.awaited_s = longer;
        }
      }
      if (activity_name(activity) != outlier.quantity) continue;
      const double more = mean_of(dense_.costs(i), slow) - lower_median(dense_.costs(i));
      if (more <= most) continue;
      most = more;
      outlier.place = place;
    }
    report_.outliers.push_back(std::move(outlier));
  }

  static double mean_of(const Values& values, const std::vector<uint32_t>& ranks) {
    double sum = 0;
    for (const uint32_t r : ranks) sum += values[r];
    return ranks.empty() ? 0 : sum / static_cast<double>(ranks.size());
  }

  static double mean_of_others(const Values& values, const std::vector<uint32_t>& ranks) {
    double sum = 0;
    for (const double value : values) sum += value;
    const auto others = static_cast<double>(values.size() - ranks.size());
    return others > 0 ? (sum - mean_of(values, ranks) * static_cast<double>(ranks.size())) / others : 0;
  }

  void find_imbalances() {
    for (size_t i = 0; i < dense_.size(); ++i) {
      if (report_.costs.places[dense_.place(i)].activity != RankActivity::Communication) continue;
      const Values& waits = dense_.costs(i);
      RankImbalance imbalance;
      imbalance.place = dense_.place(i);
      for (const double wait : waits) imbalance.seconds += wait / static_cast<double>(waits.size());
      const double least = *std::ranges::min_element(waits);
      // The late ones are those that wait nearly as little as the one that waits least.
      const double border = least + (imbalance.seconds - least) / 3;
      for (uint32_t r = 0; r < waits.size(); ++r)
        if (waits[r] <= border) imbalance.late.push_back(r);
      imbalance.avoidable = imbalance.seconds - mean_of(waits, imbalance.late);
      if (imbalance.avoidable < kLeastShare * typical_time() ||
          imbalance.avoidable < kChance * chance(imbalance.seconds) || is_explained(imbalance))
        continue;
      blame(imbalance);
      report_.imbalances.push_back(std::move(imbalance));
    }
    std::ranges::stable_sort(report_.imbalances, std::greater(), &RankImbalance::avoidable);
  }

  // The late ones are known to be slow.
  bool is_explained(const RankImbalance& imbalance) const {
    return std::ranges::all_of(imbalance.late, [&](uint32_t rank) {
      return std::ranges::any_of(report_.outliers, [&](const RankOutlier& outlier) {
        return std::ranges::binary_search(outlier.ranks, rank);
      });
    });
  }

  void blame(RankImbalance& imbalance) const {
    for (size_t i = 0; i < dense_.size(); ++i) {
      if (report_.costs.places[dense_.place(i)].activity == RankActivity::Communication) continue;
      const Values& costs = dense_.costs(i);
      const double late = mean_of(costs, imbalance.late);
      const double more = late - mean_of_others(costs, imbalance.late);
      if (more <= imbalance.blamed_s || more < kExplained * imbalance.avoidable ||
          more < kChance * chance(late))
        continue;
      imbalance.blamed = dense_.place(i);
      imbalance.blamed_s = more;
    }
  }

  Values shares_of(uint32_t rank) const {
    Values shares(dense_.size());
    if (ranks_[rank].seconds <= 0) return shares;
    for (size_t i = 0; i < dense_.size(); ++i) shares[i] = dense_.costs(i)[rank] / ranks_[rank].seconds;
    return shares;
  }

  // By how much the shares of two ranks differ, beyond what chance makes of them.
  bool are_alike(const Values& a, const Values& b, double samples) const {
    double distance = 0, noise = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      distance += std::abs(a[i] - b[i]);
      noise += std::sqrt(2 * std::max(a[i], b[i]) / std::max(samples, 1.0));
    }
    return distance < kAlike + noise;
  }

  // Each rank joins the first cluster whose first rank it is like.
  void find_clusters() {
    std::vector<Values> patterns;
    report_.cluster_of.assign(ranks_.size(), 0);
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      const Values shares = shares_of(r);
      size_t at = 0;
      while (at < patterns.size() && !are_alike(patterns[at], shares, ranks_[r].seconds / period_)) ++at;
      if (at == patterns.size() && at < kMostClusters) {
        patterns.push_back(shares);
        report_.clusters.emplace_back();
      }
      report_.clusters[std::min(at, kMostClusters - 1)].ranks.push_back(r);
    }
    std::ranges::stable_sort(report_.clusters, std::greater(),
                             [](const RankCluster& cluster) { return cluster.ranks.size(); });
    for (uint32_t c = 0; c < report_.clusters.size(); ++c) {
      describe(report_.clusters[c]);
      for (const uint32_t r : report_.clusters[c].ranks) report_.cluster_of[r] = c;
    }
  }

  void describe(RankCluster& cluster) const {
    std::vector<std::pair<double, uint32_t>> costs;
    for (size_t i = 0; i < dense_.size(); ++i)
      costs.emplace_back(-mean_of(dense_.costs(i), cluster.ranks), dense_.place(i));
    for (const uint32_t r : cluster.ranks)
      cluster.seconds += ranks_[r].seconds / static_cast<double>(cluster.ranks.size());
    std::ranges::sort(costs);
    for (size_t i = 0; i < std::min<size_t>(costs.size(), 3); ++i) {
      if (costs[i].first == 0) break;
      cluster.places.push_back(costs[i].second);
      cluster.shares.push_back(-costs[i].first / cluster.seconds);
    }
  }

  // Waiting of a rank, the mean, that nothing above explains.
  double unexplained() const {
    double waits = report_.find("communication")->mean;
    double longest = 0;
    for (const RankOutlier& outlier : report_.outliers) longest = std::max(longest, outlier.awaited_s);
    for (const RankImbalance& imbalance : report_.imbalances) waits -= imbalance.avoidable;
    return waits - longest;
  }

  void find_late(const CallTree& tree, int jobs) {
    const double waits = unexplained();
    if (waits < kLeastShare * typical_time()) return;
    const std::vector<TraceSource>& traces = tree.database->traces;
    report_.would_need_traces =
        std::ranges::none_of(traces, [](const TraceSource& trace) { return bool{trace}; });
    if (report_.would_need_traces) return;
    report_.late = late_ranks(tree, report_.costs, period_, jobs);
    if (!report_.late || report_.late->by_rank.empty()) return;
    const double latest = *std::ranges::max_element(report_.late->by_rank);
    const double for_others = std::min(report_.late->blamed_s / static_cast<double>(ranks_.size()), waits);
    if (latest > kMostOfOne * report_.late->blamed_s || for_others < kLeastShare * typical_time() ||
        for_others < kChance * chance(for_others))
      return;
    report_.late_by_turns_s = for_others;
  }

  RankReport& report_;
  const std::vector<RankCost>& ranks_;
  const DensePlaces dense_;
  double period_ = kDefaultPeriod;
};

}  // namespace

const RankStatistics* RankReport::find(const std::string& quantity) const {
  const auto at = std::ranges::find(statistics, quantity, &RankStatistics::name);
  return at == statistics.end() ? nullptr : &*at;
}

std::optional<std::string> why_no_ranks(const CallTree& tree) {
  std::set<int32_t> ranks;
  for (const uint32_t profile : tree.selection.profiles) {
    const ProfileId& id = tree.database->profiles[profile].id;
    if (id.rank >= 0 && id.device < 0) ranks.insert(id.rank);
    if (ranks.size() > 1) break;
  }
  if (ranks.size() < 2)
    return "ranks are compared where there are two or more; measure them with `mpirun -n N prof run ./app`";
  for (uint32_t m = 0; m < tree.metrics(); ++m) {
    if (is_time(tree.metric(m))) return std::nullopt;
  }
  return "ranks are compared by their time; measure CPUTIME or REALTIME, or choose one with --metric";
}

RankReport rank_report(const CallTree& tree, const RunSummary& run, RankOptions options) {
  RankReport report;
  const int jobs = options.threads();
  report.costs = rank_costs(tree, run, std::move(options));
  if (report.costs.ranks.size() < 2) return report;
  Comparison(tree, run, report).compare(tree, jobs);
  report.findings = rank_findings(tree, report);
  return report;
}

}  // namespace prof
