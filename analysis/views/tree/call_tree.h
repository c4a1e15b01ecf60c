#pragma once
// The call tree: a database's contexts folded to frames. Lines, loops and instructions inside a function
// belong to the frame of that function; calls of one function from several lines of one caller are one node.
// Every view is computed from it. Holds references into the database, which must outlive it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/views/tree/lazy_columns.h"
#include "analysis/views/tree/selection.h"

namespace prof {

enum class FrameKind : uint8_t {
  Function,
  Entry,        // the root of a stack: "main thread"
  Instruction,  // code without a known function: module+offset
  Line,         // code without a known function, with a known line
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

// The metrics of a tree of two runs (analysis/views/compare/comparison.h): the first `count` are those of the
// first run, and the next `count` the same metrics of the second.
struct Compared {
  size_t count = 0;
  bool is_second_before = false;          // if false, the first run is the earlier one
  std::vector<bool> in_first, in_second;  // per metric: whether it was measured in that run
  std::vector<double> scale;              // per metric: the factor of the second run's costs

  // Positions in the tree's metrics, of the first `count` ones.
  size_t before(size_t metric) const { return is_second_before ? metric + count : metric; }
  size_t after(size_t metric) const { return is_second_before ? metric : metric + count; }
  bool was_measured_before(size_t metric) const { return (is_second_before ? in_second : in_first)[metric]; }
  bool was_measured_after(size_t metric) const { return (is_second_before ? in_first : in_second)[metric]; }
};

struct CallTree {
  const Database* database = nullptr;
  Selection selection;
  bool is_folded = false;  // its inclusive costs are sums over its own nodes, not those of the database
  std::vector<Frame> frames;
  std::vector<CallNode> nodes;    // in preorder, siblings by falling inclusive cost of the first metric
  std::vector<uint32_t> node_of;  // per context
  std::vector<uint32_t> starts;   // contexts that are frames of their own, rising
  CostColumns by_context;         // [m][context]
  LazyColumns costs;              // [m][node]; from by_context, if they are not given
  std::vector<double> totals;     // per selected metric: the inclusive cost of all roots
  std::optional<Compared> compared;

  size_t metrics() const { return selection.metrics.size(); }
  // The metrics to choose from: for two compared runs, each one once.
  size_t distinct_metrics() const { return compared ? compared->count : metrics(); }
  // The costs by which rows of one metric are weighed: for two runs, those of the second.
  size_t weighed(size_t metric) const { return compared ? compared->after(metric) : metric; }
  const Metric& metric(size_t m) const { return database->metrics[selection.metrics[m]]; }
  const std::vector<Cost>& costs_of(size_t m) const {
    return costs.of(m, [&] { return node_costs(m); });
  }
  const Cost& cost(uint32_t node, size_t m) const { return costs_of(m)[node]; }
  // Returns 0..1; 0 if nothing was measured.
  double share(double value, size_t m) const { return totals[m] > 0 ? value / totals[m] : 0; }

  // Computes one column of `costs` again.
  std::vector<Cost> node_costs(size_t m) const;
};

// If merge_recursion is true, a call of a function that is already on the path continues at its outermost
// frame. Each function then is on a path once, and inclusive costs are those of the folded tree.
CallTree build_call_tree(const Database& database, const Selection& selection, bool merge_recursion);

// The same from exclusive costs of contexts, as returned by context_costs().
enum class Inlining : uint8_t { TellsApart, Ignored };  // whether inlined functions get rows of their own
CallTree build_call_tree(const Database& database, const Selection& selection, CostColumns by_context,
                         bool merge_recursion, Inlining inlining);

// Puts the nodes of a folded tree, in which parents come first, in preorder. `exclusive`: the exclusive
// costs, [m][node], from which the inclusive ones are summed up.
void finish_folded(CallTree& tree, CostColumns exclusive);

// True if a context is a frame of its own, false if it is inside its parent's frame.
bool starts_frame(const Context& context);

std::string frame_name(const Database& database, const Frame& frame);

// True if nothing was measured: no node has a cost of any metric.
bool has_no_costs(const CallTree& tree);

}  // namespace prof
