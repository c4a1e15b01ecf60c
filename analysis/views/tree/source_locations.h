#pragma once
// The source lines that views show beside frames. A frame has many lines; the one that explains its cost is
// shown.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

struct SourceLocation {
  uint32_t file = kNone;  // into Database::files; kNone: not known
  uint32_t line = 0;
  bool known() const { return file != kNone; }
  bool operator==(const SourceLocation&) const = default;
};

struct HeaviestLine {
  SourceLocation location;
  Cost cost;  // there, of the first metric; zero if the location is a definition
};

enum class LineWeight : uint8_t {
  Exclusive,  // the line at which the function itself spends most; if it spends nothing itself, as Inclusive
  Inclusive   // the line at which the function and its callees spend most
};

// Returns for each group of nodes the most expensive line by a metric; without line information the
// definition of the function. group_of_node has a group or kNone for each node; frame_of_group a frame for
// each group.
std::vector<HeaviestLine> heaviest_lines(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                         const std::vector<uint32_t>& frame_of_group, LineWeight weight,
                                         size_t metric = 0);

// Returns for each group of nodes the cost at its location including callees, by the first metric.
std::vector<double> inclusive_at(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                 const std::vector<SourceLocation>& location_of_group);

// Returns for each node the line in its caller that calls it, the most expensive one if there are several.
std::vector<SourceLocation> call_sites(const CallTree& tree, size_t metric = 0);

// The contexts of each node, for lookups of a few nodes of a large tree.
class NodeContexts {
 public:
  explicit NodeContexts(const CallTree& tree);
  // Rising. Valid as long as this object.
  std::span<const uint32_t> of(uint32_t node) const {
    return {contexts_.data() + first_[node], contexts_.data() + first_[node + 1]};
  }

 private:
  std::vector<uint32_t> first_, contexts_;
};

// Does the same as heaviest_lines() for one group, by any metric. `frame` is the group's.
HeaviestLine heaviest_line(const CallTree& tree, const NodeContexts& contexts,
                           std::span<const uint32_t> nodes, uint32_t frame, LineWeight weight, size_t metric);

// Does the same as call_sites() for one node, by any metric.
SourceLocation call_site(const CallTree& tree, const NodeContexts& contexts, uint32_t node, size_t metric);

// Returns the line of a context; unknown if it is not a line.
SourceLocation location_of(const Context& context);

// Returns the definition of a frame's function; unknown if it has no line.
SourceLocation definition(const Frame& frame);

}  // namespace prof
