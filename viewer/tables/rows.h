#pragma once
// The rows of tables and flame graphs: the call tree from the entry points down, from the functions with self
// cost up, or as a list of functions. Rows are numbered as they are first requested, and nothing is computed
// before.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/views/tree/call_tree.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/thread_costs.h"
#include "analysis/views/tree/view.h"

namespace prof::viewer {

enum class Reading : uint8_t { TopDown, BottomUp, Flat };

class Rows {
 public:
  virtual ~Rows() = default;

  // Returns rows by descending cost of the first metric, including those without costs.
  virtual const std::vector<uint32_t>& roots() = 0;
  virtual std::vector<uint32_t> children(uint32_t row) = 0;
  virtual bool has_children(uint32_t row) = 0;
  virtual uint32_t parent(uint32_t row) const = 0;  // kNone for roots

  virtual uint32_t frame(uint32_t row) const = 0;  // index into CallTree::frames
  virtual bool is_inlined(uint32_t row) = 0;
  virtual Cost cost(uint32_t row, size_t metric) = 0;
  // Returns the value that decides if the row is worth showing.
  virtual double weight(uint32_t row, size_t metric) = 0;
  // Returns the width in a flame graph, in the metric's unit: the weight. For the difference of two profiles:
  // the total change of the row and its callees, up or down.
  virtual double width(uint32_t row, size_t metric) { return std::max(weight(row, metric), 0.0); }
  // For the difference of two profiles: returns which rows are shown, including those whose callees cancel
  // each other out. nullptr: the weights of rows decide.
  virtual const std::vector<bool>* shown_rows(double /*threshold_percent*/) { return nullptr; }
  // True if its weight is above zero in any metric.
  virtual bool costs_anything(uint32_t row) = 0;
  virtual SourceLocation location(uint32_t row, size_t metric) = 0;
  virtual std::vector<Instance> instances(uint32_t row) = 0;

  // Returns the rows of these frames in reading order. If callers are below functions, only the functions
  // themselves.
  virtual std::vector<uint32_t> rows_of(const std::vector<bool>& frames) = 0;
};

// The tree must outlive the result.
std::unique_ptr<Rows> make_rows(Reading reading, const CallTree& tree);

// True if the tree is the difference of two profiles: something has a negative cost in the first metric.
// Other metrics are not read for it.
bool is_difference(const CallTree& tree);

// Computes costs_anything() from all weights.
bool has_weight(Rows& rows, const CallTree& tree, uint32_t row);

// Returns the position in the tree's metrics by which a row's location is chosen. For two compared runs that
// is the opened run's, if it has the row.
size_t placed_by(const CallTree& tree, Rows& rows, uint32_t row, size_t metric);

// True if the row has any cost, and reaches the threshold (0..100) in any metric.
bool is_shown(Rows& rows, const CallTree& tree, uint32_t row, double threshold_percent);

}  // namespace prof::viewer
