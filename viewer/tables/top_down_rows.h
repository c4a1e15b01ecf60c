#pragma once
// The call tree itself: a row is a node, its weight the inclusive cost.

#include <map>
#include <optional>

#include "viewer/tables/rows.h"

namespace prof::viewer {

class TopDownRows : public Rows {
 public:
  explicit TopDownRows(const CallTree& tree);

  const std::vector<uint32_t>& roots() override { return roots_; }
  std::vector<uint32_t> children(uint32_t row) override;
  bool has_children(uint32_t row) override;
  uint32_t parent(uint32_t row) const override { return tree_.nodes[row].parent; }
  uint32_t frame(uint32_t row) const override { return tree_.nodes[row].frame; }
  bool is_inlined(uint32_t row) override { return tree_.nodes[row].inlined; }
  Cost cost(uint32_t row, size_t metric) override { return tree_.cost(row, metric); }
  double weight(uint32_t row, size_t metric) override { return tree_.cost(row, metric).inclusive; }
  double width(uint32_t row, size_t metric) override;
  const std::vector<bool>* shown_rows(double threshold_percent) override;
  bool costs_anything(uint32_t row) override;
  SourceLocation location(uint32_t row, size_t metric) override;
  std::vector<Instance> instances(uint32_t row) override { return {{row, true}}; }
  std::vector<uint32_t> rows_of(const std::vector<bool>& frames) override;

 private:
  const NodeContexts& contexts();
  bool is_of_difference();

  const CallTree& tree_;
  std::vector<uint32_t> roots_;
  std::optional<NodeContexts> contexts_;
  std::optional<bool> is_difference_;
  std::map<double, std::vector<bool>> shown_;     // by threshold, for a difference
  std::map<size_t, std::vector<double>> widths_;  // by metric, for a difference
};

}  // namespace prof::viewer
