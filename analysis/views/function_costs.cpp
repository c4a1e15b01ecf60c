#include "analysis/views/function_costs.h"

#include <algorithm>
#include <numeric>

namespace prof {

std::vector<Cost> function_costs(const CallTree& tree) {
  const size_t width = tree.metrics();
  std::vector<Cost> costs(tree.frames.size() * width);
  std::vector<uint32_t> covered(tree.frames.size(), 0);  // nodes before it are inside one of this frame
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
    const CallNode& node = tree.nodes[n];
    const bool is_outermost = n >= covered[node.frame];
    covered[node.frame] = std::max(covered[node.frame], node.end);
    Cost* const sum = &costs[node.frame * width];
    for (size_t m = 0; m < width; ++m) {
      const Cost& cost = tree.cost(n, m);
      sum[m].exclusive += cost.exclusive;
      if (is_outermost) sum[m].inclusive += cost.inclusive;
    }
  }
  return costs;
}

std::vector<uint32_t> functions_by_cost(const CallTree& tree, const std::vector<Cost>& costs) {
  std::vector<uint32_t> frames(tree.frames.size());
  std::iota(frames.begin(), frames.end(), 0u);
  const size_t width = tree.metrics();
  if (width == 0) return frames;
  std::stable_sort(frames.begin(), frames.end(), [&](uint32_t a, uint32_t b) {
    return costs[a * width].exclusive > costs[b * width].exclusive;
  });
  return frames;
}

}  // namespace prof
