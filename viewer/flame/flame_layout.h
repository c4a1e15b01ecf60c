#pragma once
// Where the frames of a flame graph are, for one width: only those that can be seen, so that a million
// contexts take no longer than the pixels there are.

#include <cstdint>
#include <vector>

#include "viewer/tables/rows.h"

namespace prof::viewer {

struct FlameBox {
  uint32_t row = kNone;  // of Rows; kNone: all that was measured, or several narrow rows
  uint32_t merged = 0;   // how many rows are too narrow to be shown alone; 0: it is one row
  double begin = 0;      // 0..1 of the width
  double end = 0;
  double weight = 0;  // in the metric's unit
  double width = 0;   // as Rows::width(), of all rows in it
};

struct FlameLayout {
  // The outermost first; boxes of a level from left to right, without gaps where rows have no cost of their
  // own.
  std::vector<std::vector<FlameBox>> levels;
};

// Of all, or with the rows above it of the zoomed row, which then has the whole width (kNone: all). A row is
// shown alone from `least` of the width (0..1) on. Siblings are by falling width.
FlameLayout lay_out_flames(Rows& rows, size_t metric, uint32_t zoomed, double least);

}  // namespace prof::viewer
