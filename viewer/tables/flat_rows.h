#pragma once
// Lists each function once: a row is a frame of the call tree.

#include <optional>

#include "viewer/tables/rows.h"

namespace prof::viewer {

class FlatRows : public Rows {
 public:
  explicit FlatRows(const CallTree& tree);

  const std::vector<uint32_t>& roots() override { return roots_; }
  std::vector<uint32_t> children(uint32_t) override { return {}; }
  bool has_children(uint32_t) override { return false; }
  uint32_t parent(uint32_t) const override { return kNone; }
  uint32_t frame(uint32_t row) const override { return row; }
  bool is_inlined(uint32_t row) override;
  Cost cost(uint32_t row, size_t metric) override { return costs_[row * tree_.metrics() + metric]; }
  double weight(uint32_t row, size_t metric) override;
  bool costs_anything(uint32_t row) override { return has_weight(*this, tree_, row); }
  SourceLocation location(uint32_t row, size_t metric) override;
  std::vector<Instance> instances(uint32_t row) override;
  std::vector<uint32_t> rows_of(const std::vector<bool>& frames) override;

 private:
  std::span<const uint32_t> nodes(uint32_t frame);

  const CallTree& tree_;
  std::vector<Cost> costs_;
  std::vector<uint32_t> roots_;
  FrameInstances all_;
  std::optional<NodeContexts> contexts_;
};

}  // namespace prof::viewer
