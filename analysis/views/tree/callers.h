#pragma once
// Chains of callers of one function, for the bottom-up view and flame graphs of callers.

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/views/tree/call_tree.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/view.h"

namespace prof {

// The instances of one function that were reached along one chain of callers.
struct CallerChain {
  std::vector<uint32_t> functions;  // nodes of the function at the start of the chain, in preorder
  std::vector<uint32_t> callers;    // for each of them the node at this end of the chain
  std::vector<uint32_t> below;      // and the node that it calls; empty at the start
};

// Starts the chain at a function that is in the tree, without callers.
CallerChain chain_without_callers(const FrameInstances& instances, uint32_t frame);

// Returns the chain extended by each of its callers, by their frames. Entry points are not callers.
std::vector<CallerChain> with_callers(const CallTree& tree, const CallerChain& chain);

// True if all callers at its end were inlined.
bool is_inlined(const CallTree& tree, const CallerChain& chain);

// Returns the line at which the callers at the chain's end call most, by the exclusive cost of the functions
// at its start; if none is known, the definition of the caller. `site` returns the line from which a node is
// called. The chain must have callers.
SourceLocation heaviest_site(const CallTree& tree, const CallerChain& chain, size_t metric,
                             const std::function<SourceLocation(uint32_t node)>& site);

}  // namespace prof
