#include <cmath>

#include "analysis/views/tree/view.h"

namespace prof {

bool passes(const CallTree& tree, double value, size_t metric, double threshold_percent) {
  return value != 0 && std::abs(value) >= std::abs(tree.totals[metric]) * threshold_percent / 100;
}

std::vector<bool> shown_nodes(const CallTree& tree, double threshold_percent) {
  std::vector<bool> heavy(tree.nodes.size());
  bool has_negative = false;
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
    for (size_t m = 0; m < tree.metrics(); ++m) {
      const double cost = tree.cost(n, m).inclusive;
      has_negative |= cost < 0;
      if (passes(tree, cost, m, threshold_percent)) heavy[n] = true;
    }
  }
  if (!has_negative) return heavy;
  for (size_t n = tree.nodes.size(); n-- > 0;)
    if (heavy[n] && tree.nodes[n].parent != kNone) heavy[tree.nodes[n].parent] = true;
  return heavy;
}

View top_down(const CallTree& tree, const ViewOptions& options) {
  const size_t width = tree.metrics();
  View view;
  std::vector<uint32_t> row_of(tree.nodes.size(), kNone);
  std::vector<uint32_t> node_of_row, frame_of_row;
  const std::vector<bool> heavy = shown_nodes(tree, options.threshold_percent);
  for (uint32_t n = 0; n < tree.nodes.size();) {
    const CallNode& node = tree.nodes[n];
    if (!heavy[n] || (options.levels != 0 && node.depth >= options.levels)) {
      n = node.end;
      continue;
    }
    row_of[n] = static_cast<uint32_t>(view.rows.size());
    node_of_row.push_back(n);
    frame_of_row.push_back(node.frame);
    view.rows.push_back(
        {node.parent == kNone ? kNone : row_of[node.parent], node.depth, node.frame, node.inlined, {}});
    for (size_t m = 0; m < width; ++m) view.costs.push_back(tree.cost(n, m));
    ++n;
  }
  const std::vector<HeaviestLine> locations =
      heaviest_lines(tree, row_of, frame_of_row, LineWeight::Inclusive);
  for (size_t r = 0; r < view.rows.size(); ++r) view.rows[r].location = locations[r].location;

  if (options.statistics) {
    const ThreadCosts threads(tree);
    for (const uint32_t n : node_of_row)
      for (size_t m = 0; m < width; ++m) view.threads.push_back(threads.spread({{n, true}}, m));
  }
  return view;
}

}  // namespace prof
