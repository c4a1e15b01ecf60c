#pragma once
// Lays out a flame graph for one width. It contains only visible frames, so the time depends on the number of
// pixels, not on the number of contexts.

#include <cstdint>
#include <vector>

#include "viewer/tables/rows.h"

namespace prof::viewer {

struct FlameBox {
  uint32_t row = kNone;  // of Rows; kNone: the whole, or several narrow rows
  uint32_t merged = 0;   // the number of rows too narrow to be shown alone; 0: one row
  double begin = 0;      // 0..1 of the width
  double end = 0;
  double weight = 0;  // in the metric's unit
  double width = 0;   // as Rows::width(), of all its rows together
};

struct FlameLayout {
  // Outermost first. The boxes of a level go from left to right, without gaps if rows have no cost of their
  // own.
  std::vector<std::vector<FlameBox>> levels;
};

// Lays out all rows, or the zoomed row, which gets the whole width, below its ancestors (kNone: all). A row
// is shown alone from `least` of the width (0..1) on. Siblings are ordered by descending width.
FlameLayout lay_out_flames(Rows& rows, size_t metric, uint32_t zoomed, double least);

}  // namespace prof::viewer
