#include "viewer/findings/evidence_table.h"

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <algorithm>
#include <utility>

#include "analysis/views/wording.h"
#include "viewer/document/words.h"
#include "viewer/findings/links.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

constexpr int kEvidenceRole = Qt::UserRole + 20;
constexpr int kLeastOfWidest = 30;  // average letters that the widest column keeps where all do not fit
constexpr int kGap = 10;  // pixels between a number, which ends at its cell's right, and a text that follows

// Texts after the first column keep their distance from what is to their left.
class EvidenceDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem inset = option;
    if (is_text(index)) {
      // The part that is left out has the selection's colour too.
      option.widget->style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
      inset.rect.setLeft(inset.rect.left() + kGap);
    }
    QStyledItemDelegate::paint(painter, inset, index);
  }

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return QStyledItemDelegate::sizeHint(option, index) + QSize(is_text(index) ? kGap : 0, 0);
  }

 private:
  static bool is_text(const QModelIndex& index) {
    return index.column() > 0 && !index.data(Qt::TextAlignmentRole).isValid();
  }
};

}  // namespace

Cell seconds_cell(double seconds) {
  return {QString::fromStdString(words_for_duration(seconds)), seconds,
          exact_quantity({"", "sec", ""}, seconds)};
}

Cell share_cell(double share) {
  constexpr int kDigits = 5;
  return {percent(share), share, QString::number(share * 100, 'g', kDigits) + " %"};
}

Cell count_cell(double count) {
  return {quantity({}, count), count, quantity({}, count)};
}

EvidenceTable::EvidenceTable(Document& document, const QStringList& columns, QWidget* parent)
    : QTreeView(parent), document_(document) {
  model_.setHorizontalHeaderLabels(columns);
  model_.setSortRole(kExactRole);
  setModel(&model_);
  setItemDelegate(new EvidenceDelegate(this));
  setEditTriggers(NoEditTriggers);
  setUniformRowHeights(true);
  setAlternatingRowColors(true);
  setAllColumnsShowFocus(true);
  setTextElideMode(Qt::ElideMiddle);  // places end with their lines
  setSelectionMode(ExtendedSelection);
  header()->setSortIndicator(-1, Qt::DescendingOrder);  // as the pages fill it, until a column is clicked
  setSortingEnabled(true);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, &EvidenceTable::row_chosen);
  connect(this, &QTreeView::activated, this, &EvidenceTable::show_source);
}

QStandardItem* EvidenceTable::add(const std::vector<Cell>& cells, Evidence evidence, QStandardItem* parent) {
  QList<QStandardItem*> row;
  for (const Cell& cell : cells) {
    auto* const item = new QStandardItem(cell.text);
    const bool is_number = cell.exact.isValid();
    item->setData(is_number ? cell.exact : QVariant(cell.text), kExactRole);
    item->setToolTip(cell.tip.isEmpty() ? cell.text : cell.tip);
    if (is_number) {
      item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      model_.horizontalHeaderItem(static_cast<int>(row.size()))->setTextAlignment(Qt::AlignRight);
    }
    row << item;
  }
  while (row.size() < model_.columnCount()) row << new QStandardItem;
  row.front()->setData(QVariant::fromValue<qulonglong>(evidence_.size()), kEvidenceRole);
  evidence_.push_back(std::move(evidence));
  (parent ? parent : model_.invisibleRootItem())->appendRow(row);
  return row.front();
}

QStandardItem* EvidenceTable::add_heading(const QString& text) {
  QStandardItem* const item = add({text}, {});
  QFont bold = font();
  bold.setBold(true);
  item->setFont(bold);
  setFirstColumnSpanned(item->row(), {}, true);
  expand(item->index());
  return item;
}

void EvidenceTable::clear() {
  model_.removeRows(0, model_.rowCount());
  evidence_.clear();
}

void EvidenceTable::finish() {
  int needed = 0, widest = 0;
  for (int column = 0; column < model_.columnCount(); ++column) {
    resizeColumnToContents(column);
    setColumnWidth(column, columnWidth(column) + fontMetrics().averageCharWidth());
    needed += columnWidth(column);
    if (columnWidth(column) > columnWidth(widest)) widest = column;
  }
  const int least = std::min(kLeastOfWidest * fontMetrics().averageCharWidth(), columnWidth(widest));
  // The bar comes when the rows are laid out.
  const int bar = verticalScrollBar()->isVisible() ? 0 : verticalScrollBar()->sizeHint().width();
  const int room = viewport()->width() - bar;
  if (needed > room) setColumnWidth(widest, std::max(least, columnWidth(widest) - (needed - room)));
  QModelIndex first = model_.index(0, 0);
  if (isFirstColumnSpanned(0, {}) && model_.rowCount(first) > 0) first = model_.index(0, 0, first);
  setCurrentIndex(first);
  scrollToTop();
}

int EvidenceTable::height_of_rows() const {
  int rows = 1;  // room for a scroll bar
  for (QModelIndex row = model_.index(0, 0); row.isValid(); row = indexBelow(row)) ++rows;
  return header()->height() + rows * std::max(rowHeight(model_.index(0, 0)), fontMetrics().height());
}

const Evidence& EvidenceTable::evidence(const QModelIndex& row) const {
  static const Evidence none;
  const QVariant at = row.siblingAtColumn(0).data(kEvidenceRole);
  return at.isValid() ? evidence_[at.toULongLong()] : none;
}

QString EvidenceTable::details(QModelIndex row) const {
  while (row.isValid() && evidence(row).details.isEmpty()) row = row.parent();
  return row.isValid() ? evidence(row).details : QString();
}

bool EvidenceTable::show_source(const QModelIndex& row) {
  const std::optional<SourcePlace> place = place_of(document_, evidence(row).frames);
  if (place) document_.ask_for_source(place->file, place->line);
  return place.has_value();
}

std::optional<Moment> EvidenceTable::moment(const QModelIndex& row) const {
  const Evidence& of = evidence(row);
  return of.moment ? of.moment() : std::nullopt;
}

bool EvidenceTable::show_moment(const QModelIndex& row) {
  const std::optional<Moment> at = moment(row);
  if (at) document_.ask_for_moment(*at);
  return at.has_value();
}

void EvidenceTable::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_T && event->modifiers() == Qt::NoModifier && show_moment(currentIndex()))
    return;
  QTreeView::keyPressEvent(event);
}

void EvidenceTable::contextMenuEvent(QContextMenuEvent* event) {
  const QModelIndex row =
      event->reason() == QContextMenuEvent::Mouse ? indexAt(event->pos()) : currentIndex();
  if (!row.isValid()) return;
  QMenu menu(this);
  QAction* const source = menu.addAction("Go to the &source line", this, [&] { show_source(row); });
  source->setEnabled(place_of(document_, evidence(row).frames).has_value());
  QAction* const time = menu.addAction("Show in the &timeline", this, [&] { show_moment(row); });
  time->setEnabled(moment(row).has_value());
  menu.exec(event->reason() == QContextMenuEvent::Mouse
                ? event->globalPos()
                : viewport()->mapToGlobal(visualRect(row).bottomLeft()));
}

}  // namespace prof::viewer
