#pragma once
// The call tree of two runs that are compared, and what changed between them by function.

#include <cstdint>
#include <vector>

#include "analysis/views/compare/matching.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// What the chosen threads of a run spent: context_costs() of a selection of its own database.
struct RunCosts {
  Selection selection;
  CostColumns by_context;
};

struct ComparisonOptions {
  bool merge_recursion = false;  // as build_call_tree() has it
  bool same_total = false;  // the second run's costs are multiplied so that its totals are the first one's
  bool is_second_before = false;  // else the first run is that before

  bool operator==(const ComparisonOptions&) const = default;
};

// One tree of both: CallTree::compared says which metrics belong together. Metrics that were measured in
// either run are in it, those of the first run at their own positions; a path that one run does not have
// costs nothing there. `first` is the tree of the first database, with the threads that are chosen; only what
// each context cost is taken of it. `both` must outlive the result.
CallTree compare(const MatchedDatabases& both, const CallTree& first, const RunCosts& second,
                 const ComparisonOptions& options);

// The threads of the second database that are the same ones as these of the first: of the same rank, the same
// process of it (by order), with the same number, or the same queue of a device. All of all. Rising.
std::vector<uint32_t> same_threads(const Database& first, const std::vector<uint32_t>& profiles,
                                   const Database& second);

struct Change {
  double before = 0;
  double after = 0;

  double difference() const { return after - before; }
  // True if they differ by no more than rounding makes them.
  bool is_same() const;
  // -1..1: of the larger one; 1 for what is new, -1 for what is gone.
  double share() const;
};

// Of any two costs of one row, which has both: of a metric of the first CallTree::compared->count ones.
Change change_of(const Compared& compared, const std::vector<Cost>& row, size_t metric, bool is_inclusive);

enum class Presence : uint8_t { Both, OnlyBefore, OnlyAfter };

// Where a row was, by its costs of all metrics of the tree: one that cost nothing at all was not there.
Presence presence_of(const Compared& compared, const std::vector<Cost>& row);

struct FunctionChange {
  uint32_t frame = 0;  // into CallTree::frames
  Presence presence = Presence::Both;
  Change exclusive, inclusive;
};

// All functions whose own cost changed, by the size of the difference. Of a tree of two runs.
std::vector<FunctionChange> changed_functions(const CallTree& tree, size_t metric);

}  // namespace prof
