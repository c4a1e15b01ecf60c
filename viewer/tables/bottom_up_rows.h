#pragma once
// Each function with its callers below it. A row is a chain of callers, and its weight the self cost of the
// function at the root when it was called through that chain. Callers are computed when a row is opened.

#include <optional>

#include "analysis/views/tree/callers.h"
#include "viewer/tables/rows.h"

namespace prof::viewer {

class BottomUpRows : public Rows {
 public:
  explicit BottomUpRows(const CallTree& tree);

  const std::vector<uint32_t>& roots() override { return roots_; }
  std::vector<uint32_t> children(uint32_t row) override;
  bool has_children(uint32_t row) override;
  uint32_t parent(uint32_t row) const override { return rows_[row].parent; }
  uint32_t frame(uint32_t row) const override { return rows_[row].frame; }
  bool is_inlined(uint32_t row) override { return prof::is_inlined(tree_, chain(row)); }
  Cost cost(uint32_t row, size_t metric) override;
  double weight(uint32_t row, size_t metric) override { return cost(row, metric).exclusive; }
  double width(uint32_t row, size_t metric) override;
  bool costs_anything(uint32_t row) override { return has_weight(*this, tree_, row); }
  SourceLocation location(uint32_t row, size_t metric) override;
  std::vector<Instance> instances(uint32_t row) override;
  std::vector<uint32_t> rows_of(const std::vector<bool>& frames) override;

 private:
  struct Row {
    uint32_t frame;
    uint32_t parent = kNone;
    std::optional<CallerChain> chain;  // of a root, computed when it is needed
    std::optional<std::vector<uint32_t>> children;
    std::optional<bool> has_children;
    std::vector<std::optional<Cost>> costs;  // per metric; roots have theirs in function_costs_
  };
  const CallerChain& chain(uint32_t row);
  bool has_callers(const CallerChain& all) const;
  const NodeContexts& contexts();

  const CallTree& tree_;
  std::vector<Cost> function_costs_;
  FrameInstances all_;
  std::vector<Row> rows_;  // the first ones are the frames
  std::vector<uint32_t> roots_;
  std::optional<NodeContexts> contexts_;
  std::optional<bool> is_difference_;
};

}  // namespace prof::viewer
