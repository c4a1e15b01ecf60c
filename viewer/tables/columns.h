#pragma once
// The columns that a table of costs can show besides the function.

#include <QString>
#include <memory>
#include <vector>

#include "analysis/views/tree/call_tree.h"
#include "viewer/tables/formula.h"

namespace prof::viewer {

enum class ColumnKind : uint8_t {
  Function,
  Place,
  Module,
  Cost,    // of a metric
  Spread,  // of a metric, over threads
  Derived,
  Change  // of the cost of a metric, between two runs
};
enum class SpreadPart : uint8_t { Minimum, Mean, Maximum, Deviation };
enum class ChangePart : uint8_t { Before, After, Difference, Ratio };

struct Column {
  ColumnKind kind = ColumnKind::Function;
  QString key;      // "function", "CPUTIME.incl", "CPUTIME.excl.mean"; never changes
  QString title;    // of the header
  QString meaning;  // a tooltip
  size_t metric = 0;
  bool is_inclusive = true;
  SpreadPart part = SpreadPart::Mean;
  ChangePart change = ChangePart::Difference;
  std::shared_ptr<const Formula> formula = {};

  bool is_number() const { return kind >= ColumnKind::Cost; }
};

// Returns all columns except derived ones, in display order. For a tree of two runs, those that compare them.
std::vector<Column> known_columns(const CallTree& tree);

// Returns the key of a cost column: "CPUTIME.incl".
QString cost_key(const CallTree& tree, size_t metric, bool is_inclusive);

// Returns the same in formula syntax: "[L1-misses].incl".
QString formula_term(const CallTree& tree, size_t metric, bool is_inclusive);

// Returns "CPUTIME.incl.difference", for two compared runs.
QString change_key(const CallTree& tree, size_t metric, bool is_inclusive, ChangePart part);

// Returns the key of the column by which tables are sorted initially.
QString heaviest_key(const CallTree& tree, size_t metric, bool is_inclusive);

// Throws FormulaError.
Column derived_column(const CallTree& tree, const QString& name, const QString& formula);

}  // namespace prof::viewer
