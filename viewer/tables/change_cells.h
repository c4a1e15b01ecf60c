#pragma once
// Computes a cell of a table of two runs: the cost of a row before or after, their difference, or their
// ratio.

#include <QString>
#include <QVariant>

#include "analysis/views/compare/comparison.h"
#include "viewer/tables/columns.h"
#include "viewer/tables/rows.h"

namespace prof::viewer {

// The arguments must outlive the cell.
class ChangeCell {
 public:
  ChangeCell(const CallTree& tree, Rows& rows, uint32_t row, const Column& column);

  // Returns the number. Ratios are infinite for rows that are new, and NaN if both costs are 0.
  double number() const;
  QString text() const;
  QString tip() const;
  // Returns the data for the roles of table_text.h and cost_model.h.
  QVariant data(int role) const;

 private:
  bool is_there() const;  // false if `text` is the reason why there is no number
  QString missing() const;
  QString quantity_text() const;
  double share() const;
  int sign() const;

  const CallTree& tree_;
  const Column& column_;
  Change change_;
  Presence presence_;
};

}  // namespace prof::viewer
