#pragma once
// The time of each function in the shown rows and the shown range, as a table. It is exact: computed from the
// index, not from pixels.

#include <QAbstractTableModel>
#include <QColor>
#include <QString>
#include <vector>

#include "viewer/trace/mapped_traces.h"

namespace prof::viewer {

// Returns the name of the time in which a row has no context.
inline const char* format_no_context(const MappedTraces& traces) {
  return traces.are_of_wall_clock() ? "(no samples)" : "(nothing ran)";
}

struct FunctionTime {
  QString name;
  QColor colour;
  uint64_t ns = 0;
  uint32_t frame = 0;  // in CallTree::frames; kNone: format_no_context()
};

class FunctionTimes : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { Function, Time, Share, Columns };

  using QAbstractTableModel::QAbstractTableModel;

  // Sorts the rows as the columns are sorted. Shares refer to `all_ns`.
  void show(std::vector<FunctionTime> times, uint64_t all_ns);
  const FunctionTime& at(int row) const { return times_[static_cast<size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  void sort_times();

  std::vector<FunctionTime> times_;
  uint64_t all_ns_ = 0;
  int column_ = Time;
  Qt::SortOrder order_ = Qt::DescendingOrder;
};

}  // namespace prof::viewer
