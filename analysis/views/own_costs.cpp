#include "analysis/views/own_costs.h"

#include <algorithm>
#include <utility>

namespace prof {

OwnCostsByThread::OwnCostsByThread(const CallTree& tree, const std::vector<uint32_t>& node_of, size_t nodes)
    : tree_(tree),
      node_of_(node_of),
      has_inner_(tree.database->contexts.size()),
      position_(tree.database->metrics.size(), tree.metrics()),
      sums_(nodes * tree.metrics()),
      touched_(nodes) {
  for (const Context& context : tree.database->contexts)
    if (!starts_frame(context)) has_inner_[context.parent] = true;
  for (size_t m = 0; m < tree.metrics(); ++m) position_[tree.selection.metrics[m]] = m;
}

const OwnCosts& OwnCostsByThread::of(uint32_t profile) {
  const size_t width = tree_.metrics();
  result_.nodes.clear();
  for (const ProfileValue& value : tree_.database->profiles[profile].values) {
    const size_t m = position_[value.metric];
    // HPCToolkit measures at instructions, which it lists as part of their line: the innermost context that
    // is listed has what they cost as its exclusive cost.
    const double cost = has_inner_[value.context] ? value.values.point : value.values.exclusive;
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

}  // namespace prof
