#include "analysis/views/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/views/tree/function_costs.h"

namespace prof {
namespace {

constexpr double kRounding = 1e-9;  // of the larger one

// Positions of metrics in the tree: those of the first run unchanged, followed by those that only the second
// run has.
struct Positions {
  std::vector<uint32_t> metrics;  // of the metrics of both runs
  std::vector<size_t> of_second;  // per metric of the second selection
  std::vector<bool> in_first, in_second;
};

Positions positions_of(const MatchedDatabases& both, const Selection& first, const Selection& second) {
  Positions positions;
  positions.metrics = first.metrics;
  for (const uint32_t metric : second.metrics) {
    const uint32_t wanted = both.metrics[metric];
    const auto at = std::ranges::find(positions.metrics, wanted);
    positions.of_second.push_back(static_cast<size_t>(at - positions.metrics.begin()));
    if (at == positions.metrics.end()) positions.metrics.push_back(wanted);
  }
  positions.in_first.assign(positions.metrics.size(), false);
  positions.in_second.assign(positions.metrics.size(), false);
  std::fill_n(positions.in_first.begin(), first.metrics.size(), true);
  for (const size_t position : positions.of_second) positions.in_second[position] = true;
  return positions;
}

CostColumns costs_of_both(const MatchedDatabases& both, const CallTree& first, const RunCosts& second,
                          const Positions& positions) {
  const size_t count = positions.metrics.size();
  CostColumns costs(2 * count, std::vector<Cost>(both.database.contexts.size()));
  for (size_t m = 0; m < first.metrics(); ++m) std::ranges::copy(first.by_context[m], costs[m].begin());
  for (size_t m = 0; m < second.by_context.size(); ++m) {
    std::vector<Cost>& column = costs[count + positions.of_second[m]];
    for (size_t c = 0; c < both.contexts.size(); ++c) {
      column[both.contexts[c]].inclusive += second.by_context[m][c].inclusive;
      column[both.contexts[c]].exclusive += second.by_context[m][c].exclusive;
    }
  }
  return costs;
}

void scale(CostColumns& costs, const Compared& compared) {
  for (size_t m = 0; m < compared.count; ++m) {
    for (Cost& cost : costs[compared.count + m]) {
      cost.inclusive *= compared.scale[m];
      cost.exclusive *= compared.scale[m];
    }
  }
}

// Identifies a thread across runs: process numbers differ in each run, but their order does not.
struct Identity {
  int32_t rank, process_of_rank, thread, device, queue;
  auto operator<=>(const Identity&) const = default;
};

std::vector<Identity> identities_of(const Database& database) {
  std::map<std::tuple<int32_t, std::string, int32_t>, int32_t> number_of;
  std::map<int32_t, int32_t> processes;  // per rank
  std::vector<Identity> identities;
  for (const Profile& profile : database.profiles) {
    const ProfileId& id = profile.id;
    const auto [at, is_new] = number_of.try_emplace({id.rank, id.host, id.process}, 0);
    if (is_new) at->second = processes[id.rank]++;
    identities.push_back({id.rank, at->second, id.thread, id.device, id.queue});
  }
  return identities;
}

}  // namespace

CallTree compare(const MatchedDatabases& both, const CallTree& first, const RunCosts& second,
                 const ComparisonOptions& options) {
  const Positions positions = positions_of(both, first.selection, second.selection);
  const size_t count = positions.metrics.size();
  Selection selection = first.selection;
  selection.metrics = positions.metrics;
  for (const uint32_t metric : positions.metrics)
    selection.metrics.push_back(metric + static_cast<uint32_t>(both.metric_count));
  CallTree tree = build_call_tree(both.database, selection, costs_of_both(both, first, second, positions),
                                  options.merge_recursion, Inlining::Ignored);
  Compared compared{count, options.is_second_before, positions.in_first, positions.in_second, {}};
  compared.scale.assign(count, 1);
  for (size_t m = 0; m < count && options.same_total; ++m) {
    const double to = tree.totals[m], from = tree.totals[m + count];
    if (to > 0 && from > 0) compared.scale[m] = to / from;
    tree.totals[m + count] *= compared.scale[m];
  }
  if (options.same_total && count > 0) {
    scale(tree.by_context, compared);
    tree.costs = LazyColumns(tree.metrics(), {});
  }
  tree.compared = std::move(compared);
  return tree;
}

std::vector<uint32_t> same_threads(const Database& first, const std::vector<uint32_t>& profiles,
                                   const Database& second) {
  std::vector<uint32_t> same(second.profiles.size());
  std::iota(same.begin(), same.end(), 0u);
  if (profiles.size() == first.profiles.size()) return same;
  const std::vector<Identity> ours = identities_of(first), theirs = identities_of(second);
  std::vector<Identity> wanted;
  for (const uint32_t profile : profiles) wanted.push_back(ours[profile]);
  std::erase_if(same, [&](uint32_t p) { return std::ranges::find(wanted, theirs[p]) == wanted.end(); });
  return same;
}

bool Change::is_same() const {
  return std::abs(difference()) <= kRounding * std::max(std::abs(before), std::abs(after));
}

double Change::share() const {
  const double larger = std::max(before, after);
  return larger > 0 && !is_same() ? difference() / larger : 0;
}

Change change_of(const Compared& compared, const std::vector<Cost>& row, size_t metric, bool is_inclusive) {
  const Cost &before = row[compared.before(metric)], &after = row[compared.after(metric)];
  return is_inclusive ? Change{before.inclusive, after.inclusive} : Change{before.exclusive, after.exclusive};
}

Presence presence_of(const Compared& compared, const std::vector<Cost>& row) {
  bool was_before = false, was_after = false;
  for (size_t m = 0; m < compared.count; ++m) {
    const Cost &before = row[compared.before(m)], &after = row[compared.after(m)];
    was_before |= before.inclusive != 0 || before.exclusive != 0;
    was_after |= after.inclusive != 0 || after.exclusive != 0;
  }
  return was_before == was_after ? Presence::Both : was_before ? Presence::OnlyBefore : Presence::OnlyAfter;
}

std::vector<FunctionChange> changed_functions(const CallTree& tree, size_t metric) {
  const Compared& compared = *tree.compared;
  const std::vector<Cost> costs = function_costs(tree);
  std::vector<FunctionChange> changes;
  std::vector<Cost> row(tree.metrics());
  for (uint32_t frame = 0; frame < tree.frames.size(); ++frame) {
    std::copy_n(costs.begin() + static_cast<ptrdiff_t>(frame * row.size()), row.size(), row.begin());
    const Change exclusive = change_of(compared, row, metric, false);
    if (exclusive.is_same()) continue;
    changes.push_back({frame, presence_of(compared, row), exclusive, change_of(compared, row, metric, true)});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const FunctionChange& a, const FunctionChange& b) {
    return std::abs(a.exclusive.difference()) > std::abs(b.exclusive.difference());
  });
  return changes;
}

}  // namespace prof
