#include "viewer/tables/bottom_up_rows.h"

#include <algorithm>
#include <cmath>

#include "analysis/views/tree/function_costs.h"

namespace prof::viewer {

BottomUpRows::BottomUpRows(const CallTree& tree)
    : tree_(tree),
      function_costs_(function_costs(tree)),
      all_(instances_of_frames(tree)),
      roots_(functions_by_cost(tree, function_costs_)) {
  rows_.resize(tree.frames.size());
  for (uint32_t frame = 0; frame < rows_.size(); ++frame) rows_[frame].frame = frame;
}

const CallerChain& BottomUpRows::chain(uint32_t row) {
  if (!rows_[row].chain) rows_[row].chain = chain_without_callers(all_, row);
  return *rows_[row].chain;
}

const NodeContexts& BottomUpRows::contexts() {
  if (!contexts_) contexts_.emplace(tree_);
  return *contexts_;
}

std::vector<uint32_t> BottomUpRows::children(uint32_t row) {
  if (rows_[row].children) return *rows_[row].children;
  std::vector<uint32_t> children;
  for (CallerChain& longer : with_callers(tree_, chain(row))) {
    Row child;
    child.frame = tree_.nodes[longer.callers.front()].frame;
    child.parent = row;
    child.chain = std::move(longer);
    child.costs.resize(tree_.metrics());
    children.push_back(static_cast<uint32_t>(rows_.size()));
    rows_.push_back(std::move(child));
  }
  if (tree_.metrics() > 0)
    std::stable_sort(children.begin(), children.end(),
                     [this](uint32_t a, uint32_t b) { return weight(a, 0) > weight(b, 0); });
  rows_[row].children = children;
  return children;
}

// Called for all rows whenever they are sorted.
bool BottomUpRows::has_children(uint32_t row) {
  std::optional<bool>& known = rows_[row].has_children;
  if (!known) known = has_callers(chain(row));
  return *known;
}

bool BottomUpRows::has_callers(const CallerChain& all) const {
  for (size_t i = 0; i < all.callers.size(); ++i) {
    const uint32_t caller = tree_.nodes[all.callers[i]].parent;
    if (caller == kNone || tree_.frames[tree_.nodes[caller].frame].kind == FrameKind::Entry) continue;
    for (size_t m = 0; m < tree_.metrics(); ++m)
      if (tree_.cost(all.functions[i], m).exclusive != 0) return true;
  }
  return false;
}

Cost BottomUpRows::cost(uint32_t row, size_t metric) {
  if (rows_[row].parent == kNone) return function_costs_[row * tree_.metrics() + metric];
  std::optional<Cost>& known = rows_[row].costs[metric];
  if (!known) known = sum_instances(tree_, instances(row), metric);
  return *known;
}

double BottomUpRows::width(uint32_t row, size_t metric) {
  if (!is_difference_) is_difference_ = is_difference(tree_);
  if (!*is_difference_) return Rows::width(row, metric);
  double changed = 0;
  for (const uint32_t node : chain(row).functions) changed += std::abs(tree_.cost(node, metric).exclusive);
  return changed;
}

SourceLocation BottomUpRows::location(uint32_t row, size_t metric) {
  const CallerChain& all = chain(row);
  if (all.below.empty())
    return heaviest_line(tree_, contexts(), all.functions, frame(row), LineWeight::Exclusive, metric)
        .location;
  return heaviest_site(tree_, all, metric,
                       [&](uint32_t node) { return call_site(tree_, contexts(), node, metric); });
}

std::vector<Instance> BottomUpRows::instances(uint32_t row) {
  const std::vector<uint32_t>& functions = chain(row).functions;
  return mark_outermost(tree_, functions.data(), functions.data() + functions.size());
}

std::vector<uint32_t> BottomUpRows::rows_of(const std::vector<bool>& frames) {
  std::vector<uint32_t> rows;
  std::copy_if(roots_.begin(), roots_.end(), std::back_inserter(rows),
               [&](uint32_t frame) { return frames[frame]; });
  return rows;
}

}  // namespace prof::viewer
