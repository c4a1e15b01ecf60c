#pragma once
// What each function cost over all its frames: recursion counts once in the inclusive cost.

#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

// [frame * tree.metrics() + m]: as sum_instances() of each frame's nodes, in one pass.
std::vector<Cost> function_costs(const CallTree& tree);

// All frames, by falling exclusive cost of the first metric.
std::vector<uint32_t> functions_by_cost(const CallTree& tree, const std::vector<Cost>& costs);

}  // namespace prof
