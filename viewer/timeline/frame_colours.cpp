#include "viewer/timeline/frame_colours.h"

#include <algorithm>

#include "viewer/document/colours.h"

namespace prof::viewer {

namespace {

int mixed(int one, int other, int percent) {
  return (one * (100 - percent) + other * percent) / 100;
}

}  // namespace

FramesAtDepth frames_at_depth(const CallTree& tree, uint32_t depth) {
  FramesAtDepth result;
  result.frames = static_cast<uint32_t>(tree.frames.size());
  std::vector<uint32_t> of_node(tree.nodes.size());
  for (size_t i = 0; i < of_node.size(); ++i) {  // parents come first
    const CallNode& node = tree.nodes[i];
    of_node[i] = node.depth <= depth || node.parent == kNone ? node.frame : of_node[node.parent];
  }
  result.of_context.resize(tree.node_of.size());
  std::transform(tree.node_of.begin(), tree.node_of.end(), result.of_context.begin(),
                 [&](uint32_t node) { return of_node[node]; });
  return result;
}

uint32_t deepest(const CallTree& tree) {
  uint32_t depth = 0;
  for (const CallNode& node : tree.nodes) depth = std::max(depth, node.depth);
  return depth;
}

std::vector<uint32_t> path_of(const CallTree& tree, uint32_t context) {
  std::vector<uint32_t> path;
  for (uint32_t node = tree.node_of[context]; node != kNone; node = tree.nodes[node].parent)
    path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<QRgb> colours_of_frames(const CallTree& tree) {
  std::vector<QRgb> colours;
  colours.reserve(tree.frames.size());
  for (const Frame& frame : tree.frames)
    colours.push_back(colour_of_function(frame_name(*tree.database, frame)));
  return colours;
}

QColor idle_colour(const QPalette& palette) {
  const QColor base = palette.color(QPalette::Base), text = palette.color(QPalette::Text);
  constexpr int kPercent = 14;
  return QColor(mixed(base.red(), text.red(), kPercent), mixed(base.green(), text.green(), kPercent),
                mixed(base.blue(), text.blue(), kPercent));
}

}  // namespace prof::viewer
