#pragma once
// The table views of a call tree. Rows are in the order in which they are shown; a row's number is its index,
// and its parent comes before it.

#include <cstdint>
#include <vector>

#include "analysis/views/tree/call_tree.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/thread_costs.h"

namespace prof {

struct ViewOptions {
  double threshold_percent = 0;  // rows below this share of the total of every metric are left out; 0..100
  uint32_t levels = 0;           // at most so many levels of the tree; 0: all
  bool statistics = false;       // fill View::threads
};

struct Row {
  uint32_t parent = kNone;
  uint32_t depth = 0;
  uint32_t frame = 0;
  bool inlined = false;
  SourceLocation location;
};

struct View {
  std::vector<Row> rows;
  std::vector<Cost> costs;            // [row * metrics + m]
  std::vector<ThreadSpread> threads;  // like costs; empty unless requested
};

// Callers with their callees from the entry points on, by inclusive cost of the first metric. Places are the
// most expensive lines.
View top_down(const CallTree& tree, const ViewOptions& options);

// Each function by its exclusive cost, with its callers below it. A caller's costs are those of the function
// at the root when called along that chain; its location is the line of the call.
View bottom_up(const CallTree& tree, const ViewOptions& options);

// Each function once: exclusive cost over all its frames, inclusive cost over its outermost frames only, so
// that recursion counts once. Sorted by exclusive, then inclusive cost.
View flat(const CallTree& tree, const ViewOptions& options);

// True if the absolute cost reaches the threshold; zero never does. Differences of two profiles may be
// negative.
bool passes(const CallTree& tree, double value, size_t metric, double threshold_percent);

// Returns the nodes for which top_down() has rows: those with a cost that reaches the threshold. If there are
// negative costs, also their ancestors, because the costs of callees may cancel each other out.
std::vector<bool> shown_nodes(const CallTree& tree, double threshold_percent);

// The nodes of each frame in preorder: for frame f nodes[first[f]] to nodes[first[f + 1] - 1].
struct FrameInstances {
  std::vector<uint32_t> first, nodes;
};
FrameInstances instances_of_frames(const CallTree& tree);

// Marks the outermost ones of some nodes (in preorder).
std::vector<Instance> mark_outermost(const CallTree& tree, const uint32_t* begin, const uint32_t* end);

// Exclusive costs of all instances, inclusive costs of the outermost ones.
Cost sum_instances(const CallTree& tree, const std::vector<Instance>& instances, size_t metric);

}  // namespace prof
