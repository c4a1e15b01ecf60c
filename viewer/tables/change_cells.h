#pragma once
// What a table of two runs shows in one cell: the cost of a row before, after, their difference and ratio.

#include <QString>
#include <QVariant>

#include "analysis/views/comparison.h"
#include "viewer/tables/columns.h"
#include "viewer/tables/rows.h"

namespace prof::viewer {

// All of it must outlive the cell.
class ChangeCell {
 public:
  ChangeCell(const CallTree& tree, Rows& rows, uint32_t row, const Column& column);

  // Of ratios infinite for what is new, and not a number where there is nothing.
  double number() const;
  QString text() const;
  QString tip() const;
  // Of the roles of table_text.h and cost_model.h.
  QVariant data(int role) const;

 private:
  bool is_there() const;  // a number, and no words for why there is none
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
