#include "viewer/timeline/function_times.h"

#include <algorithm>

#include "viewer/document/words.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

constexpr double kNsPerSecond = 1e9;

}  // namespace

void FunctionTimes::show(std::vector<FunctionTime> times, uint64_t all_ns) {
  beginResetModel();
  times_ = std::move(times);
  all_ns_ = all_ns;
  sort_times();
  endResetModel();
}

int FunctionTimes::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(times_.size());
}

int FunctionTimes::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : Columns;
}

QVariant FunctionTimes::data(const QModelIndex& index, int role) const {
  const FunctionTime& row = at(index.row());
  const double share = all_ns_ > 0 ? static_cast<double>(row.ns) / static_cast<double>(all_ns_) : 0;
  if (role == Qt::DecorationRole && index.column() == Function) return row.colour;
  if (role == Qt::TextAlignmentRole && index.column() != Function)
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole)
    return QString("%1: %2 ns, %3 % of what is shown").arg(row.name).arg(row.ns).arg(100 * share, 0, 'f', 4);
  if (role == kExactRole) {
    if (index.column() == Time) return static_cast<double>(row.ns) / kNsPerSecond;
    if (index.column() == Share) return share;
  }
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case Function:
      return row.name;
    case Time:
      return duration(row.ns);
    default:
      return percent(share);
  }
}

QVariant FunctionTimes::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole && section != Function)
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  static const char* const kNames[] = {"Function", "Time", "Share"};
  return kNames[section];
}

void FunctionTimes::sort(int column, Qt::SortOrder order) {
  column_ = column;
  order_ = order;
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::vector<uint32_t> frames;
  for (const QModelIndex& index : before) frames.push_back(at(index.row()).frame);
  sort_times();
  QModelIndexList after;
  for (qsizetype i = 0; i < before.size(); ++i) {
    const auto same = std::find_if(times_.begin(), times_.end(), [&](const FunctionTime& time) {
      return time.frame == frames[static_cast<size_t>(i)];
    });
    after << index(static_cast<int>(same - times_.begin()), before[i].column());
  }
  changePersistentIndexList(before, after);
  emit layoutChanged({}, VerticalSortHint);
}

void FunctionTimes::sort_times() {
  std::stable_sort(times_.begin(), times_.end(), [&](const FunctionTime& one, const FunctionTime& other) {
    const FunctionTime& first = order_ == Qt::AscendingOrder ? one : other;
    const FunctionTime& second = order_ == Qt::AscendingOrder ? other : one;
    return column_ == Function ? first.name < second.name : first.ns < second.ns;
  });
}

}  // namespace prof::viewer
