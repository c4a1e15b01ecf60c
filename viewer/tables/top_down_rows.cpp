#include "viewer/tables/top_down_rows.h"

#include <cmath>

namespace prof::viewer {

TopDownRows::TopDownRows(const CallTree& tree) : tree_(tree) {
  for (uint32_t node = 0; node < tree.nodes.size(); node = tree.nodes[node].end) roots_.push_back(node);
}

std::vector<uint32_t> TopDownRows::children(uint32_t row) {
  std::vector<uint32_t> children;
  for (uint32_t child = row + 1; child < tree_.nodes[row].end; child = tree_.nodes[child].end)
    children.push_back(child);
  return children;
}

bool TopDownRows::is_of_difference() {
  if (!is_difference_) is_difference_ = is_difference(tree_);
  return *is_difference_;
}

double TopDownRows::width(uint32_t row, size_t metric) {
  if (!is_of_difference()) return Rows::width(row, metric);
  std::vector<double>& widths = widths_[metric];
  if (widths.empty()) {
    widths.resize(tree_.nodes.size());
    for (auto node = static_cast<uint32_t>(widths.size()); node-- > 0;) {
      widths[node] += std::abs(tree_.cost(node, metric).exclusive);
      if (const uint32_t above = tree_.nodes[node].parent; above != kNone) widths[above] += widths[node];
    }
  }
  return widths[row];
}

const std::vector<bool>* TopDownRows::shown_rows(double threshold_percent) {
  if (!is_of_difference()) return nullptr;
  std::vector<bool>& shown = shown_[threshold_percent];
  if (shown.empty()) shown = shown_nodes(tree_, threshold_percent);
  return &shown;
}

// Rows without costs are not shown.
bool TopDownRows::has_children(uint32_t row) {
  for (uint32_t child = row + 1; child < tree_.nodes[row].end; child = tree_.nodes[child].end)
    if (is_shown(*this, tree_, child, 0)) return true;
  return false;
}

const NodeContexts& TopDownRows::contexts() {
  if (!contexts_) contexts_.emplace(tree_);
  return *contexts_;
}

// Mostly the first metric decides. For the others the tree computes all nodes at once, which is too much for
// the few rows that the first one leaves undecided.
bool TopDownRows::costs_anything(uint32_t row) {
  if (tree_.metrics() == 0 || weight(row, 0) != 0) return tree_.metrics() > 0;
  if (tree_.is_folded || tree_.compared) return has_weight(*this, tree_, row);
  for (const std::vector<Cost>& column : tree_.by_context) {
    double sum = 0;
    for (const uint32_t context : contexts().of(row))
      if (starts_frame(tree_.database->contexts[context])) sum += column[context].inclusive;
    if (sum != 0) return true;
  }
  return false;
}

SourceLocation TopDownRows::location(uint32_t row, size_t metric) {
  return heaviest_line(tree_, contexts(), {&row, 1}, frame(row), LineWeight::Inclusive, metric).location;
}

std::vector<uint32_t> TopDownRows::rows_of(const std::vector<bool>& frames) {
  std::vector<uint32_t> rows;
  for (uint32_t node = 0; node < tree_.nodes.size(); ++node)
    if (frames[tree_.nodes[node].frame]) rows.push_back(node);
  return rows;
}

}  // namespace prof::viewer
