#include "viewer/tables/table_text.h"

#include <fmt/format.h>

#include <QItemSelectionModel>
#include <algorithm>
#include <utility>
#include <vector>

#include "viewer/document/output_file.h"
#include "viewer/tables/cost_model.h"

namespace prof::viewer {

namespace {

// Returns positions from the outermost row inwards; sorted by them, rows are in display order.
std::vector<int> place_of(QModelIndex index) {
  std::vector<int> place;
  for (; index.isValid(); index = index.parent()) place.push_back(index.row());
  std::ranges::reverse(place);
  return place;
}

QString header(const QAbstractItemModel& model, int column) {
  return model.headerData(column, Qt::Horizontal).toString();
}

QString quoted(QString text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n') && !text.contains('\r')) return text;
  return '"' + text.replace("\"", "\"\"") + '"';
}

QString exact(const QModelIndex& index) {
  const QVariant value = index.data(kExactRole);
  if (!value.isValid()) return index.data().toString();
  constexpr int kDigits = 17;
  return value.typeId() == QMetaType::Double ? QString::number(value.toDouble(), 'g', kDigits)
                                             : value.toString();
}

void write_rows(QAbstractItemModel& model, const QModelIndex& parent, int depth, QIODevice& out) {
  while (model.canFetchMore(parent)) model.fetchMore(parent);
  for (int row = 0; row < model.rowCount(parent); ++row) {
    QStringList cells{QString::number(depth)};
    for (int column = 0; column < model.columnCount(parent); ++column)
      cells << quoted(exact(model.index(row, column, parent)));
    out.write((cells.join(',') + "\r\n").toUtf8());
    write_rows(model, model.index(row, 0, parent), depth + 1, out);
  }
}

}  // namespace

QString text_of_selection(const QAbstractItemView& view) {
  const QAbstractItemModel& model = *view.model();
  const QModelIndexList rows = view.selectionModel()->selectedRows();
  if (rows.isEmpty()) return {};
  std::vector<std::pair<std::vector<int>, QModelIndex>> from_above;
  for (const QModelIndex& row : rows) from_above.emplace_back(place_of(row), row);
  std::ranges::sort(from_above, {}, &std::pair<std::vector<int>, QModelIndex>::first);
  QStringList names;
  for (int column = 0; column < model.columnCount(); ++column) names << header(model, column);
  QStringList lines{names.join('\t')};
  for (const auto& [place, row] : from_above) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column)
      cells << row.siblingAtColumn(column).data().toString();
    lines << QString(2 * (static_cast<qsizetype>(place.size()) - 1), ' ') + cells.join('\t');
  }
  return lines.join('\n') + '\n';
}

namespace {

void write_all(QAbstractItemModel& model, QIODevice& out) {
  QStringList names{"depth"};
  for (int column = 0; column < model.columnCount(); ++column) names << quoted(header(model, column));
  out.write((names.join(',') + "\r\n").toUtf8());
  write_rows(model, {}, 0, out);
}

}  // namespace

// Unloaded rows are loaded into a temporary copy. The table that is shown does not change and has no more
// rows to sort.
void write_csv(QAbstractItemModel& model, const std::filesystem::path& file) {
  if (const auto* const costs = qobject_cast<const CostModel*>(&model)) {
    const std::unique_ptr<CostModel> copy = costs->copy();
    return write_to(file, [&](QIODevice& out) { write_all(*copy, out); });
  }
  write_to(file, [&](QIODevice& out) { write_all(model, out); });
}

}  // namespace prof::viewer
