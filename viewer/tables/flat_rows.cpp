#include "viewer/tables/flat_rows.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/views/tree/function_costs.h"

namespace prof::viewer {

FlatRows::FlatRows(const CallTree& tree)
    : tree_(tree),
      costs_(function_costs(tree)),
      roots_(functions_by_cost(tree, costs_)),
      all_(instances_of_frames(tree)) {
  if (tree.metrics() == 0) return;
  std::stable_sort(roots_.begin(), roots_.end(), [this](uint32_t a, uint32_t b) {
    const Cost x = cost(a, 0), y = cost(b, 0);
    return std::tie(x.exclusive, x.inclusive) > std::tie(y.exclusive, y.inclusive);
  });
}

std::span<const uint32_t> FlatRows::nodes(uint32_t frame) {
  return {all_.nodes.data() + all_.first[frame], all_.nodes.data() + all_.first[frame + 1]};
}

bool FlatRows::is_inlined(uint32_t row) {
  const std::span<const uint32_t> all = nodes(row);
  return std::all_of(all.begin(), all.end(), [this](uint32_t node) { return tree_.nodes[node].inlined; });
}

// An entry point is not a function. It is listed only for the cost of unknown frames.
double FlatRows::weight(uint32_t row, size_t metric) {
  const Cost spent = cost(row, metric);
  // In the difference of two profiles either may be negative.
  const bool is_own =
      tree_.frames[row].kind == FrameKind::Entry || std::abs(spent.exclusive) > std::abs(spent.inclusive);
  return is_own ? spent.exclusive : spent.inclusive;
}

SourceLocation FlatRows::location(uint32_t row, size_t metric) {
  if (!contexts_) contexts_.emplace(tree_);
  return heaviest_line(tree_, *contexts_, nodes(row), row, LineWeight::Exclusive, metric).location;
}

std::vector<Instance> FlatRows::instances(uint32_t row) {
  const std::span<const uint32_t> all = nodes(row);
  return mark_outermost(tree_, all.data(), all.data() + all.size());
}

std::vector<uint32_t> FlatRows::rows_of(const std::vector<bool>& frames) {
  std::vector<uint32_t> rows;
  std::copy_if(roots_.begin(), roots_.end(), std::back_inserter(rows),
               [&](uint32_t frame) { return frames[frame]; });
  return rows;
}

}  // namespace prof::viewer
