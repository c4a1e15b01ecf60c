#pragma once
// Distances in a timeline, in pixels.

namespace prof::viewer {

constexpr int kPartGap = 6;  // between the parts
constexpr int kIndent = 14;  // of the labels in a group

}  // namespace prof::viewer
