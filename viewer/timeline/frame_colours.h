#pragma once
// The frame of each context at a depth of its call path, and its colour.

#include <QColor>
#include <QPalette>
#include <QString>
#include <cstdint>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof::viewer {

// Frames by context. Depth 0 is the outermost frame. A shorter path counts as its innermost frame.
struct FramesAtDepth {
  std::vector<uint32_t> of_context;  // an index into CallTree::frames
  uint32_t frames = 0;
};
FramesAtDepth frames_at_depth(const CallTree& tree, uint32_t depth);
// Returns the depth of the longest path.
uint32_t deepest(const CallTree& tree);
// Returns the nodes from the entry point to the context's own.
std::vector<uint32_t> path_of(const CallTree& tree, uint32_t context);

// Returns the colours of all frames of the tree (viewer/document/colours.h).
std::vector<QRgb> colours_of_frames(const CallTree& tree);
// Returns the colour of times at which a thread was traced and nothing ran. Times at which it was not traced
// have the background.
QColor idle_colour(const QPalette& palette);

}  // namespace prof::viewer
