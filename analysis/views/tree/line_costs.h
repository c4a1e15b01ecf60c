#pragma once
// The costs of the lines of source files, over all functions, for display beside their text.

#include <cstdint>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

struct LineCost {
  uint32_t line = 0;
  // The exclusive cost of the line, and the inclusive cost. A line that calls itself again counts once.
  Cost cost;
};

// `file`: an index into Database::files. By rising line; lines without cost are left out.
std::vector<LineCost> line_costs(const CallTree& tree, uint32_t file, size_t metric);

struct FileCost {
  uint32_t file = 0;  // into Database::files
  double exclusive = 0;
};

// Returns all files that have lines with costs, by falling cost. Lines that only call count as well, with no
// cost.
std::vector<FileCost> file_costs(const CallTree& tree, size_t metric);

}  // namespace prof
