#pragma once
// Call paths with source lines: the call tree split by the line at which each function calls the next one or
// spends its time. For views and formats whose frames have a line of their own.

#include <cstdint>
#include <vector>

#include "analysis/views/tree/call_tree.h"
#include "analysis/views/tree/source_locations.h"

namespace prof {

struct StackNode {
  uint32_t parent = kNone;  // comes before its children
  uint32_t call = 0;        // into CallTree::nodes: the function, and whether it was inlined
  SourceLocation location;  // the line in it; not known: the function as a whole
};

struct Stacks {
  std::vector<StackNode> nodes;
  std::vector<uint32_t> node_of;  // per context of the database
};

Stacks build_stacks(const CallTree& tree);

}  // namespace prof
