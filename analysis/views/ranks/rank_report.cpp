#include "analysis/views/ranks/rank_report.h"

#include <algorithm>
#include <set>

#include "analysis/views/ranks/rank_comparison.h"
#include "analysis/views/tree/wording.h"

namespace prof {

const RankStatistics* RankReport::find(RankQuantity quantity) const {
  const auto at = std::ranges::find(statistics, quantity, &RankStatistics::quantity);
  return at == statistics.end() ? nullptr : &*at;
}

std::optional<std::string> reason_no_ranks(const CallTree& tree) {
  std::set<int32_t> ranks;
  for (const uint32_t profile : tree.selection.profiles) {
    const ProfileId& id = tree.database->profiles[profile].id;
    if (id.rank >= 0 && id.device < 0) ranks.insert(id.rank);
    if (ranks.size() > 1) break;
  }
  if (ranks.size() < 2)
    return "ranks can be compared only if there are two or more; measure with `mpirun -n N prof run ./app`";
  for (uint32_t m = 0; m < tree.metrics(); ++m) {
    if (is_time(tree.metric(m))) return std::nullopt;
  }
  return "ranks are compared by time; measure CPUTIME or REALTIME, or select one with --metric";
}

RankReport rank_report(const CallTree& tree, const RunSummary& run, RankOptions options) {
  RankReport report;
  const int jobs = options.threads();
  report.costs = rank_costs(tree, run, std::move(options));
  if (report.costs.ranks.size() < 2) return report;
  RankComparison comparison(tree, run, report, jobs);
  find_rank_outliers(comparison);
  find_rank_waits(comparison);
  find_rank_clusters(comparison);
  return report;
}

}  // namespace prof
