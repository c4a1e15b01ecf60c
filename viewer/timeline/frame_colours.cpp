#include "viewer/timeline/frame_colours.h"

#include <algorithm>

namespace prof::viewer {

namespace {

// FNV-1a: stable between runs and machines, as std::hash is not.
uint32_t hash(const QByteArray& text) {
  uint32_t value = 2166136261u;
  for (const char c : text) value = (value ^ static_cast<uint8_t>(c)) * 16777619u;
  return value ^ value >> 15;
}

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Base).lightness() < 128;
}

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

QColor colour_of(const QString& function, const QPalette& palette) {
  const uint32_t value = hash(function.toUtf8());
  const auto hue = static_cast<int>(value % 360);
  const auto saturation = 110 + static_cast<int>(value / 360 % 3) * 35;
  const auto step = static_cast<int>(value / 1080 % 3) * 18;
  return QColor::fromHsl(hue, saturation, (is_dark(palette) ? 105 : 125) + step);
}

std::vector<QRgb> colours_of_frames(const CallTree& tree, const QPalette& palette) {
  std::vector<QRgb> colours;
  colours.reserve(tree.frames.size());
  for (const Frame& frame : tree.frames)
    colours.push_back(colour_of(QString::fromStdString(frame_name(*tree.database, frame)), palette).rgb());
  return colours;
}

QColor idle_colour(const QPalette& palette) {
  const QColor base = palette.color(QPalette::Base), text = palette.color(QPalette::Text);
  constexpr int kPercent = 14;
  return QColor(mixed(base.red(), text.red(), kPercent), mixed(base.green(), text.green(), kPercent),
                mixed(base.blue(), text.blue(), kPercent));
}

}  // namespace prof::viewer
