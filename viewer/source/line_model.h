#pragma once
// The lines of a file with the cost of each, as a table. It is what the source page exports.

#include <QAbstractTableModel>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/views/tree/call_tree.h"

namespace prof::viewer {

class LineModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { Line, WithCalls, Itself, Text, Columns };

  struct Row {
    uint32_t line = 0;
    Cost cost;
    QString text;
  };

  using QAbstractTableModel::QAbstractTableModel;

  void show(std::vector<Row> rows, const Metric& metric);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<Row> rows_;
  Metric metric_;
};

}  // namespace prof::viewer
