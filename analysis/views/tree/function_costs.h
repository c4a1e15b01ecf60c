#pragma once
// The cost of each function over all its frames: recursion counts once in the inclusive cost.

#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns [frame * tree.metrics() + m]: sum_instances() of each frame's nodes, in one pass.
std::vector<Cost> function_costs(const CallTree& tree);

// Returns all frames, by falling exclusive cost of the first metric.
std::vector<uint32_t> functions_by_cost(const CallTree& tree, const std::vector<Cost>& costs);

}  // namespace prof
