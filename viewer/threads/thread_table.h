#pragma once
// The threads with the cost of each, one row per thread, sorted by any column.

#include <QAbstractTableModel>
#include <functional>
#include <vector>

#include "viewer/threads/thread_values.h"

namespace prof::viewer {

class ThreadTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { Name, Value, OfMean, Outlier, kColumns };

  explicit ThreadTable(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  // Name and value of each thread; `words` and `exact` format values.
  void show_values(std::vector<QString> names, std::vector<double> values,
                   std::function<QString(double)> words, std::function<QString(double)> exact);
  // Returns the thread of a row.
  uint32_t thread(int row) const { return order_[static_cast<size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  void put_in_order();
  QVariant words(uint32_t thread, int column) const;
  QVariant exact(uint32_t thread, int column) const;
  double of_mean(uint32_t thread) const;

  std::vector<QString> names_;
  std::vector<double> values_;
  std::function<QString(double)> words_, exact_;
  Distribution distribution_;
  std::vector<uint32_t> order_;  // by row
  int sorted_by_ = Value;
  Qt::SortOrder direction_ = Qt::DescendingOrder;
};

}  // namespace prof::viewer
