#include "analysis/views/tree/own_costs.h"

#include <algorithm>
#include <utility>

#include "analysis/views/tree/database_sums.h"

namespace prof {
namespace {

// Marks contexts that enclose others.
std::vector<bool> contexts_with_inner(const Database& database) {
  std::vector<bool> has_inner(database.contexts.size());
  for (const Context& context : database.contexts)
    if (!starts_frame(context)) has_inner[context.parent] = true;
  return has_inner;
}

// HPCToolkit measures at instructions, which it lists as part of their line: the innermost listed context has
// their costs as its exclusive cost.
double own_cost(const Values& values, bool has_inner) {
  return has_inner ? values.point : values.exclusive;
}

}  // namespace

OwnCostsByThread::OwnCostsByThread(const CallTree& tree, const std::vector<uint32_t>& node_of, size_t nodes)
    : tree_(tree),
      node_of_(node_of),
      has_inner_(contexts_with_inner(*tree.database)),
      position_(tree.database->metrics.size(), tree.metrics()),
      sums_(nodes * tree.metrics()),
      touched_(nodes) {
  for (size_t m = 0; m < tree.metrics(); ++m) position_[tree.selection.metrics[m]] = m;
}

const OwnCosts& OwnCostsByThread::of(uint32_t profile) {
  return of(values_of(*tree_.database, profile, buffer_));
}

const OwnCosts& OwnCostsByThread::of(std::span<const ProfileValue> values) {
  const size_t width = tree_.metrics();
  result_.nodes.clear();
  for (const ProfileValue& value : values) {
    const size_t m = position_[value.metric];
    const double cost = own_cost(value.values, has_inner_[value.context]);
    if (m == width || cost == 0) continue;
    const uint32_t node = node_of_[value.context];
    if (!touched_[node]) result_.nodes.push_back(node);
    touched_[node] = true;
    sums_[node * width + m] += cost;
  }
  std::sort(result_.nodes.begin(), result_.nodes.end());
  result_.values.clear();
  for (const uint32_t node : result_.nodes) {
    for (size_t m = 0; m < width; ++m) result_.values.push_back(std::exchange(sums_[node * width + m], 0));
    touched_[node] = false;
  }
  return result_;
}

std::vector<double> own_costs(const Database& database, uint32_t metric) {
  const std::vector<bool> has_inner = contexts_with_inner(database);
  std::vector<double> costs(database.contexts.size());
  if (has_stored_sums(database)) {
    const std::vector<Values> sums = database.stored->sums(metric);
    for (uint32_t c = 0; c < costs.size(); ++c) costs[c] = own_cost(sums[c], has_inner[c]);
    return costs;
  }
  if (has_summaries(database)) {
    for (uint32_t c = 0; c < costs.size(); ++c)
      costs[c] = own_cost(database.summary(metric, c).sum, has_inner[c]);
    return costs;
  }
  std::vector<ProfileValue> buffer;
  for (uint32_t profile = 0; profile < database.profiles.size(); ++profile)
    for (const ProfileValue& value : values_of(database, profile, buffer, metric))
      if (value.metric == metric) costs[value.context] += own_cost(value.values, has_inner[value.context]);
  return costs;
}

}  // namespace prof
