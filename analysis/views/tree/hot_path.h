#pragma once
// Where to look first: the path along which most cost flows, and the functions that spend most themselves.

#include <cstddef>
#include <vector>

#include "analysis/views/tree/source_locations.h"

namespace prof {

struct PathStep {
  uint32_t frame = 0;
  double inclusive = 0;  // of the first metric; for a caller of a hot function: what of its
                         // metric came along this chain
  SourceLocation location;  // the line of the call to the next step; of the last step its own heaviest line
  // 0..1: how much of `inclusive` is at that line; 1 if none is known, and for callers of hot functions
  double share_at_location = 1;
};

// From the heaviest root down while one child holds at least half of its parent's cost and a tenth of the
// total. Empty if nothing was measured.
std::vector<PathStep> hot_path(const CallTree& tree);

// True if a child goes on with the path: what hot_path() goes by, of any metric.
bool continues_hot_path(const CallTree& tree, double parent, double child, size_t metric);

struct HotFunction {
  uint32_t frame = 0;
  Cost cost;  // of the requested metric; recursion counted once
  SourceLocation location;
  double share_at_location = 1;  // 0..1: how much of the exclusive cost is at that line; 1 if none is known
  // The nearest caller first, each holding at least half of the exclusive cost; entry points left out.
  std::vector<PathStep> callers;
};

// The functions of the highest exclusive cost of a metric, at most `limit`.
std::vector<HotFunction> hot_functions(const CallTree& tree, size_t limit, size_t metric = 0);

// The callers of the function that a context belongs to, the nearest first, each with the line of its call
// and the cost that came along this chain; entry points left out.
std::vector<PathStep> callers_of(const CallTree& tree, uint32_t context);

}  // namespace prof
