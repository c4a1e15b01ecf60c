#pragma once
// The call tree: a database's contexts folded to frames. Lines, loops and instructions inside a function
// belong to the frame of that function; calls of one function from several lines of one caller are one node.
// Every view is computed from it. Holds references into the database, which must outlive it.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/views/selection.h"

namespace prof {

enum class FrameKind : uint8_t {
  Function,
  Entry,        // where a stack begins: "main thread"
  Instruction,  // code of no known function: module+offset
  Line,         // code of no known function with a known line
  Unknown
};

struct Frame {
  FrameKind kind = FrameKind::Unknown;
  uint32_t index = kNone;   // Function: into Database::functions; Entry: the first context of that name
  uint32_t module = kNone;  // into Database::modules
  uint64_t offset = 0;      // in the module; meaningful if module is known
  uint32_t file = kNone;    // of the definition
  uint32_t line = 0;
};

struct CallNode {
  uint32_t parent = kNone;
  uint32_t end = 0;    // nodes [own index + 1, end) are its descendants
  uint32_t frame = 0;  // into CallTree::frames
  uint32_t depth = 0;  // 0 for roots
  bool inlined = false;
};

struct CallTree {
  const Database* database = nullptr;
  Selection selection;
  bool is_folded = false;  // its inclusive costs are sums over its own nodes, not those of the database
  std::vector<Frame> frames;
  std::vector<CallNode> nodes;    // in preorder, siblings by falling inclusive cost of the first metric
  std::vector<uint32_t> node_of;  // per context
  std::vector<Cost> costs;        // [node * metrics() + m]
  std::vector<Cost> by_context;   // [context * metrics() + m]
  std::vector<double> totals;     // per selected metric: the inclusive cost of all roots

  size_t metrics() const { return selection.metrics.size(); }
  const Metric& metric(size_t m) const { return database->metrics[selection.metrics[m]]; }
  const Cost& cost(uint32_t node, size_t m) const { return costs[node * metrics() + m]; }
  // 0..1, and 0 where nothing was measured.
  double share(double value, size_t m) const { return totals[m] > 0 ? value / totals[m] : 0; }
};

// With merge_recursion a call of a function that is already on the path continues at its outermost frame, so
// each function is on a path once; inclusive costs are then those of the folded tree.
CallTree build_call_tree(const Database& database, const Selection& selection, bool merge_recursion);

// Puts the nodes, which have their parents before them and their exclusive costs, in preorder; first sums up
// the inclusive costs of a folded tree.
void finish(CallTree& tree);

// True where a context is a frame of its own, false where it is inside that of its parent.
bool starts_frame(const Context& context);

std::string frame_name(const Database& database, const Frame& frame);

}  // namespace prof
