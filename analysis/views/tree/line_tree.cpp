#include "analysis/views/tree/line_tree.h"

#include <map>
#include <tuple>

#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/stacks.h"

namespace prof {
namespace {

// The frames of a tree at their lines, without duplicates.
class LineFrames {
 public:
  explicit LineFrames(std::vector<Frame> functions) : functions_(std::move(functions)) {}

  uint32_t at(uint32_t function, const SourceLocation& location) {
    const auto [known, is_new] = known_.try_emplace({function, location.file, location.line}, frames_.size());
    if (is_new) {
      Frame frame = functions_[function];
      // Code without a function is named after its line.
      if (frame.kind != FrameKind::Line) {
        frame.file = location.file;
        frame.line = location.line;
      }
      frames_.push_back(frame);
    }
    return known->second;
  }

  std::vector<Frame> take() { return std::move(frames_); }

 private:
  const std::vector<Frame> functions_;
  std::vector<Frame> frames_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> known_;
};

}  // namespace

CallTree split_by_line(CallTree tree) {
  const Stacks stacks = build_stacks(tree);
  const size_t width = tree.metrics();
  LineFrames frames(std::move(tree.frames));
  std::vector<CallNode> nodes;
  nodes.reserve(stacks.nodes.size());
  for (const StackNode& node : stacks.nodes) {
    const CallNode& call = tree.nodes[node.call];
    nodes.push_back({node.parent, 0, frames.at(call.frame, node.location), call.depth, call.inlined});
  }
  tree.nodes = std::move(nodes);
  tree.frames = frames.take();
  tree.node_of = stacks.node_of;

  CostColumns exclusive(width, std::vector<Cost>(tree.nodes.size()));
  OwnCostsByThread costs(tree, tree.node_of, tree.nodes.size());
  for (const uint32_t profile : tree.selection.profiles) {
    const OwnCosts& own = costs.of(profile);
    for (size_t i = 0; i < own.nodes.size(); ++i)
      for (size_t m = 0; m < width; ++m) exclusive[m][own.nodes[i]].exclusive += own.values[i * width + m];
  }
  tree.is_folded = true;
  finish_folded(tree, std::move(exclusive));
  return tree;
}

}  // namespace prof
