#pragma once
// The source lines that views put beside frames. A frame has many lines; shown is the one that explains its
// cost.

#include <cstdint>
#include <vector>

#include "analysis/views/call_tree.h"

namespace prof {

struct Place {
  uint32_t file = kNone;  // into Database::files; kNone: not known
  uint32_t line = 0;
  bool known() const { return file != kNone; }
  bool operator==(const Place&) const = default;
};

enum class LineWeight : uint8_t {
  Exclusive,  // where the function itself spends; where it spends nothing itself, as Inclusive
  Inclusive   // where most is spent in the function and what it calls
};

// For each group of nodes the heaviest line by the first metric; without line information the place where the
// function is defined. group_of_node holds a group or kNone for each node; frame_of_group a frame for each
// group.
std::vector<Place> heaviest_lines(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                  const std::vector<uint32_t>& frame_of_group, LineWeight weight);

// For each node the line in its caller from which it is called, the heaviest where there are several.
std::vector<Place> call_sites(const CallTree& tree);

// Where the function of a frame is defined; not known without a line.
Place definition(const Frame& frame);

}  // namespace prof
