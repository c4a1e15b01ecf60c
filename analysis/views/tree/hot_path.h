#pragma once
// The most expensive call path, and the functions with the highest exclusive costs.

#include <cstddef>
#include <vector>

#include "analysis/views/tree/source_locations.h"

namespace prof {

struct PathStep {
  uint32_t frame = 0;
  double inclusive = 0;  // of the first metric; for a caller of a hot function: what of its
                         // metric came along this chain
  SourceLocation
      location;  // the line of the call to the next step; for the last step its most expensive line
  // 0..1: the share of `inclusive` at that line; 1 if none is known, and for callers of hot functions
  double share_at_location = 1;
};

// Goes from the most expensive root down while one child has at least half of its parent's cost and a tenth
// of the total. Empty if nothing was measured.
std::vector<PathStep> hot_path(const CallTree& tree);

// True if the path continues with a child: the criterion of hot_path(), for any metric.
bool continues_hot_path(const CallTree& tree, double parent, double child, size_t metric);

struct HotFunction {
  uint32_t frame = 0;
  Cost cost;  // of the requested metric; recursion counted once
  SourceLocation location;
  double share_at_location = 1;  // 0..1: the share of the exclusive cost at that line; 1 if none is known
  // The nearest caller first, each with at least half of the exclusive cost; without entry points.
  std::vector<PathStep> callers;
};

// Returns the functions with the highest exclusive costs of a metric, at most `limit`.
std::vector<HotFunction> hot_functions(const CallTree& tree, size_t limit, size_t metric = 0);

// Returns the callers of the function that a context belongs to, the nearest first, each with the line of its
// call and the cost along this chain; without entry points.
std::vector<PathStep> callers_of(const CallTree& tree, uint32_t context);

}  // namespace prof
