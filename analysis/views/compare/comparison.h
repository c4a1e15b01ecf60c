#pragma once
// The call tree of two compared runs, and the changes between them by function.

#include <cstdint>
#include <vector>

#include "analysis/views/compare/matching.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the costs of the selected threads of a run: context_costs() of a selection from its own database.
struct RunCosts {
  Selection selection;
  CostColumns by_context;
};

struct ComparisonOptions {
  bool merge_recursion = false;  // as build_call_tree() takes it
  bool same_total = false;  // the second run's costs are multiplied so that both runs have the same totals
  bool is_second_before = false;  // otherwise the first run is the earlier one

  bool operator==(const ComparisonOptions&) const = default;
};

// Builds one tree of both runs: CallTree::compared says which metrics belong together. It has the metrics
// that were measured in either run, those of the first run at their own positions. A path that one run does
// not have costs nothing there. `first` is the tree of the first database, with the selected threads; only
// the exclusive costs of contexts are taken from it. `both` must outlive the result.
CallTree compare(const MatchedDatabases& both, const CallTree& first, const RunCosts& second,
                 const ComparisonOptions& options);

// Returns the threads of the second database that correspond to these of the first: of the same rank and
// process (by order) and with the same number, or for the same queue of a device. All threads correspond to
// all. Rising.
std::vector<uint32_t> same_threads(const Database& first, const std::vector<uint32_t>& profiles,
                                   const Database& second);

struct Change {
  double before = 0;
  double after = 0;

  double difference() const { return after - before; }
  // True if the costs differ by no more than rounding errors.
  bool is_same() const;
  // -1..1, relative to the larger cost; 1 for new rows, -1 for rows that are gone.
  double share() const;
};

// Returns the change between a row's two costs. `metric` is one of the first CallTree::compared->count
// metrics.
Change change_of(const Compared& compared, const std::vector<Cost>& row, size_t metric, bool is_inclusive);

enum class Presence : uint8_t { Both, OnlyBefore, OnlyAfter };

// Returns in which runs a row occurs, by its costs for all metrics of the tree. A row without any cost is
// absent.
Presence presence_of(const Compared& compared, const std::vector<Cost>& row);

struct FunctionChange {
  uint32_t frame = 0;  // into CallTree::frames
  Presence presence = Presence::Both;
  Change exclusive, inclusive;
};

// Returns all functions whose exclusive cost changed, by the size of the difference, from a tree of two runs.
std::vector<FunctionChange> changed_functions(const CallTree& tree, size_t metric);

}  // namespace prof
