#include "analysis/views/rank_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "analysis/views/rank_processors.h"
#include "analysis/views/rank_quantities.h"
#include "analysis/views/wording.h"

namespace prof {
namespace {

using Values = RankValues;

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
constexpr double kDefaultPeriod = 1e-3;  // of the default rate
// Where one rank is late so much of the time, it is no turn of its.
constexpr double kMostOfOne = 0.75;
constexpr double kMostOfRank = 0.9;

class Comparison {
 public:
  Comparison(const CallTree& tree, const RunSummary& run, RankReport& report)
      : tree_(tree),
        report_(report),
        ranks_(report.costs.ranks),
        dense_(report.costs, false),
        lines_(report.costs, true),
        processors_(tree, run, report.costs) {
    const std::string& metric = tree.metric(report.costs.metric).name;
    const auto sampling = run.by_metric.find(metric);
    if (sampling != run.by_metric.end() && sampling->second.requested_hz.value_or(0) > 0)
      period_ = 1 / *sampling->second.requested_hz;
    report.line = statistics_of("line", values_of([](const RankCost& rank) { return rank.line_s; }));
    // Of helpers that take less nobody need know.
    has_threads_ = std::ranges::any_of(
        ranks_, [](const RankCost& rank) { return rank.line_s < kMostOfRank * rank.seconds; });
  }

  void compare(int jobs) {
    jobs_ = jobs;
    for (const RankQuantity& quantity : rank_quantities()) {
      report_.statistics.push_back(statistics_of(quantity.name, values_of(quantity.of)));
      if (quantity.is_judged) find_outliers(quantity);
    }
    std::ranges::stable_sort(report_.outliers, std::greater(), &RankOutlier::share);
    find_imbalances();
    find_clusters();
    find_late();
  }

 private:
  // Values of a quantity, by rank, and what a tenth of makes a difference.
  struct Judged {
    const RankQuantity& quantity;
    bool is_of_line;
    double whole;
    Values values;
  };

  Values values_of(const RankQuantityOf& of) const {
    Values values;
    for (const RankCost& rank : ranks_) values.push_back(of(rank));
    return values;
  }

  double typical_time() const { return report_.find("time")->median; }
  // What makes others wait is what the thread does that communicates: the sum over sixteen threads is none of
  // it. Of one thread it is the same.
  double typical_line() const { return report_.line.median; }
  // What chance makes of a cost that is sampled, as a standard deviation.
  double chance(double seconds) const { return std::sqrt(period_ * std::max(seconds, period_)); }

  // First by that thread, then by all of a rank, which may compute more in others, or leave files and devices
  // to them.
  void find_outliers(const RankQuantity& quantity) {
    if (quantity.of_line)
      find_outliers({quantity, has_threads_, typical_line(), values_of(quantity.of_line)});
    const bool is_of_all = std::string(quantity.name) == activity_name(RankActivity::Compute);
    find_outliers({quantity, false, is_of_all ? typical_time() : typical_line(), values_of(quantity.of)});
  }

  void find_outliers(const Judged& judged) {
    const Values& values = judged.values;
    const RankStatistics statistics = statistics_of(judged.quantity.name, values);
    const double median = statistics.median;
    double least = std::max(kDeviations * kNormal * statistics.deviation, kLeastShare * judged.whole);
    if (judged.quantity.is_sampled) least = std::max(least, kChance * chance(median));
    std::vector<uint32_t> slow;
    for (uint32_t r = 0; r < values.size(); ++r)
      if (values[r] - median > least && values[r] > kNoticeableRatio * median &&
          !is_known(judged.quantity.name, r))
        slow.push_back(r);
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
        add_outlier(judged, median, rather_slow, node);
      else
        single.insert(single.end(), of_node.begin(), of_node.end());
    }
    if (single.empty()) return;
    std::ranges::sort(single);
    add_outlier(judged, median, single, {});
  }

  bool is_known(const std::string& quantity, uint32_t rank) const {
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
    RankOutlier outlier{.quantity = judged.quantity.name, .ranks = slow, .node = node, .median = median};
    outlier.seconds = mean_of(judged.values, slow);
    outlier.is_of_line = judged.is_of_line;
    outlier.share = judged.whole > 0 ? outlier.excess() / judged.whole : 0;
    if (only_lacks_processor(outlier)) return;
    const double others_wait = outlier.share * typical_line();
    const DenseRankPlaces& own = judged.is_of_line ? lines_ : dense_;
    double most = 0;
    for (size_t i = 0; i < own.size(); ++i) {
      if (activity_name(activity(own, i)) != outlier.quantity) continue;
      const double more = mean_of(own.costs(i), slow) - lower_median(own.costs(i));
      if (more <= most) continue;
      most = more;
      outlier.place = own.place(i);
    }
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (activity(lines_, i) != RankActivity::Communication) continue;
      const double longer = mean_of_others(lines_.costs(i), slow) - mean_of(lines_.costs(i), slow);
      if (longer <= outlier.awaited_s || longer <= kExplained * others_wait) continue;
      outlier.awaited_in = lines_.place(i);
      outlier.awaited_s = longer;
    }
    if (outlier.quantity == "copies") {
      const Values bytes = values_of([](const RankCost& rank) { return rank.copied_bytes; });
      if (const double typical = lower_median(bytes); typical > 0)
        outlier.bytes_ratio = mean_of(bytes, slow) / typical;
    }
    report_.outliers.push_back(std::move(outlier));
  }

  RankActivity activity(const DenseRankPlaces& places, size_t i) const {
    return report_.costs.places[places.place(i)].activity;
  }

  // In the time of a clock, where processors are few; in CPU time a rank that computes longer is slow
  // whatever processors there are.
  bool only_lacks_processor(const RankOutlier& outlier) {
    if (outlier.quantity != activity_name(RankActivity::Compute) || !is_of_clock() ||
        computes_longer(outlier.ranks, outlier.share * typical_line()))
      return false;
    return lacked_processors({});
  }

  bool is_of_clock() const { return tree_.metric(report_.costs.metric).name == "REALTIME"; }

  // By the CPU time of their communicating threads, so that it explains a wait of so many seconds.
  bool computes_longer(const std::vector<uint32_t>& late, double seconds) const {
    const Values cpu = values_of([](const RankCost& rank) { return rank.line_compute_cpu_s; });
    return mean_of(cpu, late) - mean_of_others(cpu, late) > kExplained * seconds;
  }

  // Remembers that it was so.
  bool lacked_processors(const std::vector<uint32_t>& waiting) {
    const std::optional<double> share = processors_.of(waiting, period_, jobs_);
    if (!share || *share >= kHadProcessor) return false;
    report_.had_processor = std::min(*share, report_.had_processor.value_or(1));
    return true;
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
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (activity(lines_, i) != RankActivity::Communication) continue;
      const Values& waits = lines_.costs(i);
      RankImbalance imbalance;
      imbalance.place = lines_.place(i);
      for (const double wait : waits) imbalance.seconds += wait / static_cast<double>(waits.size());
      const double least = *std::ranges::min_element(waits);
      // The late ones are those that wait nearly as little as the one that waits least.
      const double border = least + (imbalance.seconds - least) / 3;
      for (uint32_t r = 0; r < waits.size(); ++r)
        if (waits[r] <= border) imbalance.late.push_back(r);
      imbalance.avoidable = imbalance.seconds - mean_of(waits, imbalance.late);
      if (imbalance.avoidable < kLeastShare * typical_line() ||
          imbalance.avoidable < kChance * chance(imbalance.seconds) || is_explained(imbalance))
        continue;
      blame(imbalance);
      if (only_lacks_processors(imbalance)) continue;
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

  // Where the late ones' communicating threads wait for other threads, what these do is to blame.
  void blame(RankImbalance& imbalance) const {
    blame(imbalance, lines_, false);
    if (imbalance.blamed != kNone && report_.costs.places[imbalance.blamed].activity == RankActivity::Threads)
      blame(imbalance, dense_, true);
    if (imbalance.blamed != kNone || is_of_clock()) return;
    const Values lines = values_of([](const RankCost& rank) { return rank.line_s; });
    imbalance.late_sleep =
        mean_of_others(lines, imbalance.late) - mean_of(lines, imbalance.late) > imbalance.avoidable / 2;
  }

  void blame(RankImbalance& imbalance, const DenseRankPlaces& places, bool is_computing) const {
    double most = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      if (activity(places, i) == RankActivity::Communication ||
          (is_computing && activity(places, i) != RankActivity::Compute))
        continue;
      const Values& costs = places.costs(i);
      const double late = mean_of(costs, imbalance.late);
      const double more = late - mean_of_others(costs, imbalance.late);
      if (more <= most || more < kExplained * imbalance.avoidable || more < kChance * chance(late)) continue;
      most = more;
      imbalance.blamed = places.place(i);
      imbalance.blamed_s = more;
    }
  }

  // Nothing that takes CPU time explains the wait.
  bool only_lacks_processors(const RankImbalance& imbalance) {
    if (is_of_clock() ? computes_longer(imbalance.late, imbalance.avoidable) : imbalance.blamed != kNone)
      return false;
    // The late ones were late because they had none, whatever the others had.
    if (processors_.lack_of(imbalance.late, period_, jobs_) > imbalance.avoidable / 2) return true;
    std::vector<uint32_t> waiting;
    for (uint32_t r = 0; r < ranks_.size(); ++r)
      if (!std::ranges::binary_search(imbalance.late, r)) waiting.push_back(r);
    return lacked_processors(waiting);
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
    double waits = 0;
    for (const RankCost& rank : ranks_)
      waits += rank.line_by_activity[static_cast<size_t>(RankActivity::Communication)] /
               static_cast<double>(ranks_.size());
    double longest = 0;
    for (const RankOutlier& outlier : report_.outliers) longest = std::max(longest, outlier.awaited_s);
    for (const RankImbalance& imbalance : report_.imbalances) waits -= imbalance.avoidable;
    return waits - longest;
  }

  void find_late() {
    const double waits = unexplained();
    if (waits < kLeastShare * typical_line() || report_.had_processor) return;
    std::vector<uint32_t> all(ranks_.size());
    std::iota(all.begin(), all.end(), 0);
    if (lacked_processors(all)) return;
    const std::vector<TraceSource>& traces = tree_.database->traces;
    report_.would_need_traces =
        std::ranges::none_of(traces, [](const TraceSource& trace) { return bool{trace}; });
    if (report_.would_need_traces) return;
    report_.late = late_ranks(tree_, report_.costs, period_, jobs_);
    if (!report_.late || report_.late->by_rank.empty()) return;
    const double latest = *std::ranges::max_element(report_.late->by_rank);
    const double for_others = std::min(report_.late->blamed_s / static_cast<double>(ranks_.size()), waits);
    if (latest > kMostOfOne * report_.late->blamed_s || for_others < kLeastShare * typical_line() ||
        for_others < kChance * chance(for_others))
      return;
    report_.late_by_turns_s = for_others;
  }

  const CallTree& tree_;
  RankReport& report_;
  const std::vector<RankCost>& ranks_;
  const DenseRankPlaces dense_, lines_;  // of all threads of a rank, and of the one that communicates
  ProcessorShare processors_;
  bool has_threads_ = false;  // that do something beside that one
  double period_ = kDefaultPeriod;
  int jobs_ = 1;
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
  Comparison(tree, run, report).compare(jobs);
  report.findings = rank_findings(tree, report);
  return report;
}

}  // namespace prof
