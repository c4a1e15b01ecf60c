#include "viewer/source/line_model.h"

#include "viewer/document/words.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

void LineModel::show(std::vector<Row> rows, const Metric& metric) {
  beginResetModel();
  rows_ = std::move(rows);
  metric_ = metric;
  endResetModel();
}

int LineModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int LineModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : Columns;
}

QVariant LineModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || (role != Qt::DisplayRole && role != kExactRole)) return {};
  const Row& row = rows_[static_cast<size_t>(index.row())];
  if (index.column() == Text) return row.text;
  if (index.column() == Line) return row.line;
  const double value = index.column() == WithCalls ? row.cost.inclusive : row.cost.exclusive;
  if (role == kExactRole) return value;
  return value > 0 ? quantity(metric_, value) : QString();
}

QVariant LineModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  const QString name = QString::fromStdString(metric_.name);
  switch (section) {
    case Line:
      return "line";
    case WithCalls:
      return name + " with callees";
    case Itself:
      return name + " self";
    default:
      return "text";
  }
}

}  // namespace prof::viewer
