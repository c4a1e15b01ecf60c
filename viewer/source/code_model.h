#pragma once
// The instructions of a function as a table: cost, address, disassembly and source line of each.

#include <QAbstractTableModel>
#include <QColor>
#include <vector>

#include "analysis/disassembly/disassembly.h"

namespace prof::viewer {

class CodeModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { Value, Address, Bytes, Jumps, Text, Line, Columns };

  using QAbstractTableModel::QAbstractTableModel;

  void show_code(Disassembly code);
  const Disassembly& code() const { return code_; }
  // Sets the metric of the database to show and the total that shares refer to; kNone: no metric.
  void show_metric(const Metric& shown, uint32_t metric, double total);
  double cost(int row) const;
  // Colours the rows of that line of a file of the database.
  void mark_line(uint32_t file, uint32_t line, const QColor& colour);
  bool is_marked(int row) const;
  // The instructions with costs, by descending cost.
  const std::vector<uint32_t>& hottest() const { return hottest_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QVariant cost_data(int row, int role) const;
  QString words(const CodeRow& row, int column) const;
  QString tip(const CodeRow& row, int column) const;
  void sort_hottest();

  Disassembly code_;
  Metric metric_;
  uint32_t position_ = kNone;
  double total_ = 0;
  std::vector<uint32_t> hottest_;
  uint32_t marked_file_ = kNone, marked_line_ = 0;
  QColor mark_;
};

}  // namespace prof::viewer
