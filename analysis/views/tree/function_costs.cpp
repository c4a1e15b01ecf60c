#include "analysis/views/tree/function_costs.h"

#include <algorithm>
#include <numeric>

namespace prof {

std::vector<Cost> function_costs(const CallTree& tree) {
  const size_t width = tree.metrics();
  std::vector<Cost> costs(tree.frames.size() * width);
  std::vector<uint32_t> covered(tree.frames.size(), 0);  // nodes before it are inside a node of this frame
  std::vector<bool> is_outermost(tree.nodes.size());
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
    const CallNode& node = tree.nodes[n];
    is_outermost[n] = n >= covered[node.frame];
    covered[node.frame] = std::max(covered[node.frame], node.end);
  }
  for (size_t m = 0; m < width; ++m) {
    const std::vector<Cost>& column = tree.costs_of(m);
    for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
      Cost& sum = costs[tree.nodes[n].frame * width + m];
      sum.exclusive += column[n].exclusive;
      if (is_outermost[n]) sum.inclusive += column[n].inclusive;
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
