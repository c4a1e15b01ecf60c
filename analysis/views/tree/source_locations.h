#pragma once
// The source lines that views put beside frames. A frame has many lines; shown is the one that explains its
// cost.

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
  Exclusive,  // where the function itself spends; where it spends nothing itself, as Inclusive
  Inclusive   // where most is spent in the function and what it calls
};

// For each group of nodes the heaviest line by a metric; without line information the location where the
// function is defined. group_of_node holds a group or kNone for each node; frame_of_group a frame for each
// group.
std::vector<HeaviestLine> heaviest_lines(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                         const std::vector<uint32_t>& frame_of_group, LineWeight weight,
                                         size_t metric = 0);

// For each group of nodes what was spent at its location with all that is called from there, by the first
// metric.
std::vector<double> inclusive_at(const CallTree& tree, const std::vector<uint32_t>& group_of_node,
                                 const std::vector<SourceLocation>& location_of_group);

// For each node the line in its caller from which it is called, the heaviest where there are several.
std::vector<SourceLocation> call_sites(const CallTree& tree, size_t metric = 0);

// The contexts of each node, for questions about a few nodes of a large tree.
class NodeContexts {
 public:
  explicit NodeContexts(const CallTree& tree);
  // Rising. Valid as long as this is.
  std::span<const uint32_t> of(uint32_t node) const {
    return {contexts_.data() + first_[node], contexts_.data() + first_[node + 1]};
  }

 private:
  std::vector<uint32_t> first_, contexts_;
};

// heaviest_lines() of one group, by any metric. `frame` is the group's.
HeaviestLine heaviest_line(const CallTree& tree, const NodeContexts& contexts,
                           std::span<const uint32_t> nodes, uint32_t frame, LineWeight weight, size_t metric);

// call_sites() of one node, by any metric.
SourceLocation call_site(const CallTree& tree, const NodeContexts& contexts, uint32_t node, size_t metric);

// The line that a context is; not known if it is something else.
SourceLocation location_of(const Context& context);

// Where the function of a frame is defined; not known without a line.
SourceLocation definition(const Frame& frame);

}  // namespace prof
