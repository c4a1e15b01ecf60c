#include "viewer/threads/thread_table.h"

#include <algorithm>
#include <numeric>

#include "viewer/tables/table_text.h"

namespace prof::viewer {

void ThreadTable::show_values(std::vector<QString> names, std::vector<double> values,
                              std::function<QString(double)> words, std::function<QString(double)> exact) {
  beginResetModel();
  names_ = std::move(names);
  values_ = std::move(values);
  words_ = std::move(words);
  exact_ = std::move(exact);
  distribution_ = distribution(values_);
  order_.resize(values_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  put_in_order();
  endResetModel();
}

int ThreadTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int ThreadTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

double ThreadTable::of_mean(uint32_t thread) const {
  return distribution_.mean > 0 ? values_[thread] / distribution_.mean : 0;
}

QVariant ThreadTable::words(uint32_t thread, int column) const {
  switch (column) {
    case Name:
      return names_[thread];
    case Value:
      return words_(values_[thread]);
    case OfMean:
      return QString::number(of_mean(thread), 'f', 2) + " x";
    default:
      return distribution_.is_outlier(values_[thread])
                 ? (values_[thread] > distribution_.high ? "more" : "less")
                 : "";
  }
}

QVariant ThreadTable::exact(uint32_t thread, int column) const {
  if (column == Value) return values_[thread];
  if (column == OfMean) return of_mean(thread);
  return words(thread, column);
}

QVariant ThreadTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const uint32_t of = thread(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return words(of, index.column());
    case kExactRole:
      return exact(of, index.column());
    case Qt::ToolTipRole:
      return "thread " + names_[of] + ": " + exact_(values_[of]);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue(index.column() == Value || index.column() == OfMean
                                     ? Qt::AlignRight | Qt::AlignVCenter
                                     : Qt::AlignLeft | Qt::AlignVCenter);
    default:
      return {};
  }
}

QVariant ThreadTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole)  // like the cells below
    return QVariant::fromValue(section == Value || section == OfMean ? Qt::AlignRight | Qt::AlignVCenter
                                                                     : Qt::AlignLeft | Qt::AlignVCenter);
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  constexpr const char* kNames[] = {"thread", "value", "of mean", "outlier"};
  return section >= 0 && section < kColumns ? QVariant(kNames[section]) : QVariant();
}

void ThreadTable::put_in_order() {
  const auto before = [this](uint32_t a, uint32_t b) {
    const bool is_rising = direction_ == Qt::AscendingOrder;
    if (sorted_by_ == Name) return is_rising ? a < b : a > b;
    const double first = sorted_by_ == Outlier ? std::abs(values_[a] - distribution_.median) : values_[a];
    const double second = sorted_by_ == Outlier ? std::abs(values_[b] - distribution_.median) : values_[b];
    return is_rising ? first < second : first > second;
  };
  std::ranges::sort(order_);
  std::ranges::stable_sort(order_, before);
}

void ThreadTable::sort(int column, Qt::SortOrder order) {
  if (column < 0) return;
  emit layoutAboutToBeChanged();
  const QModelIndexList before = persistentIndexList();
  std::vector<uint32_t> threads;
  for (const QModelIndex& index : before) threads.push_back(thread(index.row()));
  sorted_by_ = column;
  direction_ = order;
  put_in_order();
  std::vector<int> row_of(order_.size());
  for (size_t row = 0; row < order_.size(); ++row) row_of[order_[row]] = static_cast<int>(row);
  QModelIndexList after;
  for (qsizetype i = 0; i < before.size(); ++i)
    after << index(row_of[threads[static_cast<size_t>(i)]], before[i].column());
  changePersistentIndexList(before, after);
  emit layoutChanged();
}

}  // namespace prof::viewer
