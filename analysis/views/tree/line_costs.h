#pragma once
// What the lines of source files cost, whatever functions they belong to: what is shown beside their text.

#include <cstdint>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

struct LineCost {
  uint32_t line = 0;
  // What was spent at the line itself, and with all that is called from it; a line that calls itself again
  // counts once.
  Cost cost;
};

// Of an index into Database::files, by rising line; lines that cost nothing are left out.
std::vector<LineCost> line_costs(const CallTree& tree, uint32_t file, size_t metric);

struct FileCost {
  uint32_t file = 0;  // into Database::files
  double exclusive = 0;
};

// Of all files that have lines that cost something, by falling cost; lines that only call count as well, with
// nothing.
std::vector<FileCost> file_costs(const CallTree& tree, size_t metric);

}  // namespace prof
