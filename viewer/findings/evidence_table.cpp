#include "viewer/findings/evidence_table.h"

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTimer>
#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/words/numbers.h"
#include "viewer/document/words.h"
#include "viewer/findings/links.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

constexpr int kEvidenceRole = Qt::UserRole + 20;
constexpr int kMinOfWidest = 30;  // average letters that the widest column keeps if not all columns fit
// Separates a right-aligned number from the text after it.
constexpr const char* kGap = "   ";

bool is_text(const QAbstractItemModel& model, int column) {
  const QVariant alignment = model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
  return column > 0 && !(alignment.toInt() & Qt::AlignRight);
}

// Aligns titles with the texts below them.
class EvidenceHeader : public QHeaderView {
 public:
  explicit EvidenceHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
    setSectionsClickable(true);
    setSectionsMovable(true);
    setStretchLastSection(true);
    setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  }

 protected:
  void initStyleOptionForIndex(QStyleOptionHeader* option, int column) const override {
    QHeaderView::initStyleOptionForIndex(option, column);
    if (is_text(*model(), column)) option->text.prepend(kGap);
  }
};

// Keeps a gap between texts after the first column and what is to their left.
class EvidenceDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem inset = option;
    if (is_text(*index.model(), index.column())) {
      // The elided part gets the selection's colour too.
      option.widget->style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &option, painter, option.widget);
      inset.rect.setLeft(inset.rect.left() + gap(option));
    }
    QStyledItemDelegate::paint(painter, inset, index);
  }

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const bool has_gap = is_text(*index.model(), index.column());
    return QStyledItemDelegate::sizeHint(option, index) + QSize(has_gap ? gap(option) : 0, 0);
  }

 private:
  static int gap(const QStyleOptionViewItem& option) { return option.fontMetrics.horizontalAdvance(kGap); }
};

// Returns a row's position and its texts, which stay when numbers change.
QString key_of(QModelIndex row) {
  QString key;
  for (; row.isValid(); row = row.parent()) {
    for (int column = 0; column < row.model()->columnCount(row.parent()); ++column) {
      const QModelIndex cell = row.siblingAtColumn(column);
      if (column == 0 || !cell.data(Qt::TextAlignmentRole).isValid()) key += cell.data().toString() + '\t';
    }
    key += '\n';
  }
  return key;
}

}  // namespace

Cell seconds_cell(double seconds) {
  return {QString::fromStdString(format_duration(seconds)), seconds,
          exact_quantity({"", "sec", ""}, seconds)};
}

Cell share_cell(double share) {
  constexpr int kDigits = 5;
  return {percent(share), share, QString::number(share * 100, 'g', kDigits) + " %"};
}

Cell count_cell(double count) {
  return {quantity({}, count), count, quantity({}, count)};
}

bool is_same_code(const std::vector<CodeFrame>& one, const std::vector<CodeFrame>& other) {
  return std::ranges::equal(one, other, [](const CodeFrame& a, const CodeFrame& b) {
    return a.function == b.function && a.line == b.line && a.file == b.file && a.module == b.module;
  });
}

EvidenceTable::EvidenceTable(Document& document, const QStringList& columns, QWidget* parent)
    : QTreeView(parent), document_(document) {
  model_.setHorizontalHeaderLabels(columns);
  model_.setSortRole(kExactRole);
  setHeader(new EvidenceHeader(this));
  setModel(&model_);
  setItemDelegate(new EvidenceDelegate(this));
  setEditTriggers(NoEditTriggers);
  setUniformRowHeights(true);
  setAlternatingRowColors(true);
  setAllColumnsShowFocus(true);
  setTextElideMode(Qt::ElideMiddle);  // locations end with their lines
  setSelectionMode(ExtendedSelection);
  header()->setSortIndicator(-1, Qt::DescendingOrder);  // in page order until a column is clicked
  setSortingEnabled(true);
  connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this, &EvidenceTable::row_chosen);
  connect(this, &QTreeView::activated, this, &EvidenceTable::show_source);
  // The arrow takes room.
  connect(header(), &QHeaderView::sortIndicatorChanged, this, [this](int column) {
    if (column >= 0) header()->resizeSection(column, std::max(columnWidth(column), width_needed(column)));
  });
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

// Returns the width for the column's rows and its title.
int EvidenceTable::width_needed(int column) const {
  QFont bold = font();
  bold.setBold(true);
  const QString gap = is_text(model_, column) ? kGap : "";
  const QString title = model_.headerData(column, Qt::Horizontal).toString();
  const int around = 2 * (style()->pixelMetric(QStyle::PM_HeaderMargin, nullptr, header()) + 1);
  const bool has_arrow = header()->sortIndicatorSection() == column;
  const int of_title = has_arrow ? header()->sectionSizeHint(column)
                                 : QFontMetrics(header()->font()).horizontalAdvance(gap + title) + around;
  return std::max(sizeHintForColumn(column), of_title) + fontMetrics().averageCharWidth();
}

// If not all columns fit, the widest one is narrowed.
void EvidenceTable::fit_columns() {
  std::vector<int> widths;
  for (int column = 0; column < model_.columnCount(); ++column) widths.push_back(width_needed(column));
  const auto widest = std::ranges::max_element(widths);
  // The scroll bar appears when the rows are laid out.
  const int bar = verticalScrollBar()->isVisible() ? 0 : verticalScrollBar()->sizeHint().width();
  const int over = std::accumulate(widths.begin(), widths.end(), 0) - (viewport()->width() - bar);
  const int least = std::min(kMinOfWidest * fontMetrics().averageCharWidth(), *widest);
  if (over > 0) *widest = std::max(least, *widest - over);
  for (int column = 0; column < model_.columnCount(); ++column)
    setColumnWidth(column, widths[static_cast<size_t>(column)]);
}

// A page is filled when it is first shown, before it has its width.
void EvidenceTable::resizeEvent(QResizeEvent* event) {
  QTreeView::resizeEvent(event);
  if (awaits_layout_) fit_columns();
}

void EvidenceTable::finish() {
  if (header()->sortIndicatorSection() >= 0)
    model_.sort(header()->sortIndicatorSection(), header()->sortIndicatorOrder());
  fit_columns();
  awaits_layout_ = true;
  QTimer::singleShot(0, this, [this] { awaits_layout_ = false; });
  QModelIndex first = model_.index(0, 0);
  if (isFirstColumnSpanned(0, {}) && model_.rowCount(first) > 0) first = model_.index(0, 0, first);
  setCurrentIndex(first);
  scrollToTop();
}

template <typename Visit>
void EvidenceTable::for_each_row(const QModelIndex& parent, const Visit& visit) const {
  for (int r = 0; r < model_.rowCount(parent); ++r) {
    const QModelIndex row = model_.index(r, 0, parent);
    visit(row);
    for_each_row(row, visit);
  }
}

EvidenceTable::Look EvidenceTable::look() const {
  Look look{key_of(currentIndex()), key_of(indexAt({0, 0})), {}, {}};
  for_each_row({}, [&](const QModelIndex& row) {
    if (model_.hasChildren(row)) (isExpanded(row) ? look.open : look.closed).insert(key_of(row));
  });
  return look;
}

void EvidenceTable::take_look(const Look& look) {
  QModelIndex top;
  for_each_row({}, [&](const QModelIndex& row) {
    const QString key = key_of(row);
    if (look.open.contains(key)) expand(row);
    if (look.closed.contains(key)) collapse(row);
    if (key == look.current) setCurrentIndex(row);
    if (key == look.top) top = row;
  });
  if (top.isValid()) scrollTo(top, PositionAtTop);
}

int EvidenceTable::height_of_rows(int most) const {
  int rows = 0;
  for (QModelIndex row = model_.index(0, 0); row.isValid(); row = indexBelow(row)) ++rows;
  const int height = std::max(rowHeight(model_.index(0, 0)), fontMetrics().height());
  const int bar = horizontalScrollBar()->isVisible() ? horizontalScrollBar()->sizeHint().height() : 0;
  const int around = header()->sizeHint().height() + 2 * frameWidth() + bar;
  return around + std::clamp((most - around) / height, 1, std::max(rows, 1)) * height;
}

const Evidence& EvidenceTable::evidence(const QModelIndex& row) const {
  static const Evidence none;
  const QVariant at = row.siblingAtColumn(0).data(kEvidenceRole);
  return at.isValid() ? evidence_[at.toULongLong()] : none;
}

QModelIndex EvidenceTable::row_in(const std::vector<CodeFrame>& code, const QModelIndex& parent) const {
  for (int r = 0; r < model_.rowCount(parent); ++r)
    if (const QModelIndex row = model_.index(r, 0, parent); is_same_code(evidence(row).frames, code))
      return row;
  return {};
}

QString EvidenceTable::details(QModelIndex row) const {
  while (row.isValid() && evidence(row).details.isEmpty()) row = row.parent();
  return row.isValid() ? evidence(row).details : QString();
}

bool EvidenceTable::show_source(const QModelIndex& row) {
  const std::optional<SourceLocation> location = location_of(document_, evidence(row).frames);
  if (location) document_.ask_for_source(location->file, location->line);
  return location.has_value();
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
  source->setEnabled(location_of(document_, evidence(row).frames).has_value());
  QAction* const time = menu.addAction("Show in the &timeline", this, [&] { show_moment(row); });
  time->setEnabled(moment(row).has_value());
  menu.exec(event->reason() == QContextMenuEvent::Mouse
                ? event->globalPos()
                : viewport()->mapToGlobal(visualRect(row).bottomLeft()));
}

}  // namespace prof::viewer
