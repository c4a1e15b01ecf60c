#pragma once
// Where tables and flame graphs take their rows from: the call tree read from the entry points on, from the
// functions that spend on, or as a list of functions. Rows are numbered as they are first asked for, and
// nothing is computed of those that nobody looks at.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/views/call_tree.h"
#include "analysis/views/places.h"
#include "analysis/views/thread_costs.h"
#include "analysis/views/view.h"

namespace prof::viewer {

enum class Reading : uint8_t { TopDown, BottomUp, Flat };

class Rows {
 public:
  virtual ~Rows() = default;

  // By falling cost of the first metric. Also those that cost nothing.
  virtual const std::vector<uint32_t>& roots() = 0;
  virtual std::vector<uint32_t> children(uint32_t row) = 0;
  virtual bool has_children(uint32_t row) = 0;
  virtual uint32_t parent(uint32_t row) const = 0;  // kNone for roots

  virtual uint32_t frame(uint32_t row) const = 0;  // into CallTree::frames
  virtual bool is_inlined(uint32_t row) = 0;
  virtual Cost cost(uint32_t row, size_t metric) = 0;
  // What decides whether the row is worth showing.
  virtual double weight(uint32_t row, size_t metric) = 0;
  // How wide it is in a flame graph, in the metric's unit: its weight, but of the difference of two profiles
  // what it and its callees changed by, up or down.
  virtual double width(uint32_t row, size_t metric) { return std::max(weight(row, metric), 0.0); }
  // Of the difference of two profiles, which rows are shown: also those whose callees cancel each other out.
  // nullptr: the weights of rows decide.
  virtual const std::vector<bool>* shown_rows(double /*threshold_percent*/) { return nullptr; }
  // Whether its weight is more than nothing, by any metric.
  virtual bool costs_anything(uint32_t row) = 0;
  virtual Place place(uint32_t row, size_t metric) = 0;
  virtual std::vector<Instance> instances(uint32_t row) = 0;

  // The rows of these frames, in the order of reading. Only functions themselves, not their callers, where
  // callers are below them.
  virtual std::vector<uint32_t> rows_of(const std::vector<bool>& frames) = 0;
};

// The tree must outlive it.
std::unique_ptr<Rows> make_rows(Reading reading, const CallTree& tree);

// Returns whether the tree is of the difference of two profiles: something costs less than nothing by the
// first metric. Other metrics are not read for it.
bool is_difference(const CallTree& tree);

// costs_anything() by all of the weights.
bool has_weight(Rows& rows, const CallTree& tree, uint32_t row);

// The position in the tree's metrics by which a row's place is chosen: of two runs that are compared the
// opened one's, where the row was there.
size_t placed_by(const CallTree& tree, Rows& rows, uint32_t row, size_t metric);

// True where the row costs anything, and as much as the threshold asks (0..100) in any metric.
bool is_shown(Rows& rows, const CallTree& tree, uint32_t row, double threshold_percent);

}  // namespace prof::viewer
