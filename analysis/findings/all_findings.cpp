#include "analysis/findings/all_findings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/findings/contention.h"
#include "analysis/findings/deadlocks.h"
#include "analysis/findings/device_idleness.h"
#include "analysis/findings/hot_spots.h"
#include "analysis/findings/idle_threads.h"
#include "analysis/findings/locks.h"
#include "analysis/findings/measurement.h"
#include "analysis/findings/memory_waste.h"
#include "analysis/findings/order.h"
#include "analysis/findings/ranks.h"
#include "analysis/findings/stalls.h"
#include "analysis/findings/waiting.h"

namespace prof {
namespace {

using Finder = std::vector<Finding> (*)(const CallTree&, const RunSummary&);

// Findings from what was sampled. There is nothing to find without costs.
constexpr Finder kOfCosts[] = {
    [](const CallTree& tree, const RunSummary&) { return hot_spot_findings(tree); },
    waiting_findings,
    [](const CallTree& tree, const RunSummary& run) {
      return device_idleness_findings(idleness(*tree.database, tree.selection, run));
    },
};

// Findings from other data that the runtime recorded, and on the measurement.
constexpr Finder kOfRecords[] = {measurement_findings, contention_findings, lock_findings,
                                 deadlock_findings,    idle_findings,       memory_waste_findings};

}  // namespace

std::vector<Finding> all_findings(const CallTree& tree, const RunSummary& run, const StallReport* stalls,
                                  RankOptions ranks) {
  std::vector<Finding> findings;
  const auto add = [&](std::vector<Finding> more) { std::ranges::move(more, std::back_inserter(findings)); };
  if (!has_no_costs(tree))
    for (const Finder find : kOfCosts) add(find(tree, run));
  for (const Finder find : kOfRecords) add(find(tree, run));
  if (stalls) add(stall_findings(tree, *stalls));
  if (!reason_no_ranks(tree)) add(rank_findings(tree, rank_report(tree, run, std::move(ranks))));
  put_in_order(findings);
  return findings;
}

std::vector<Finding> all_findings(const CallTree& tree, const RunSummary& run, const StallOptions& stalls,
                                  RankOptions ranks) {
  if (reason_no_stalls(tree)) return all_findings(tree, run, nullptr, std::move(ranks));
  const StallReport report = stall_report(tree, run, stalls);
  return all_findings(tree, run, &report, std::move(ranks));
}

}  // namespace prof
