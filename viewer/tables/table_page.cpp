#include "viewer/tables/table_page.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "viewer/tables/cost_delegate.h"
#include "viewer/tables/function_menu.h"

namespace prof::viewer {

namespace {

QString id_of(Reading reading) {
  return reading == Reading::TopDown ? "top-down" : reading == Reading::BottomUp ? "bottom-up" : "flat";
}

}  // namespace

TablePage::TablePage(Reading reading, Document& document, QWidget* parent)
    : Page(document, parent),
      reading_(reading),
      model_(reading),
      view_(new QTreeView),
      search_(new SearchField),
      zoom_label_(new QLabel),
      reason_empty_(new QLabel),
      merges_(new QCheckBox("Collapse &recursion")),
      threshold_(new QDoubleSpinBox),
      columns_(id_of(reading), reading == Reading::TopDown, model_, *view_) {
  view_->setModel(&model_);
  view_->setItemDelegate(new CostDelegate(view_));
  view_->setUniformRowHeights(true);
  view_->setAlternatingRowColors(true);
  view_->setExpandsOnDoubleClick(false);
  view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view_->setRootIsDecorated(reading != Reading::Flat);
  fit_indentation();
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->header()->setStretchLastSection(false);
  view_->setTextElideMode(Qt::ElideMiddle);
  view_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // columns stay in place
  view_->installEventFilter(this);
  view_->viewport()->installEventFilter(this);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(make_bar());
  reason_empty_->setObjectName("reason_empty");
  reason_empty_->setWordWrap(true);
  reason_empty_->setMargin(fontMetrics().averageCharWidth());
  reason_empty_->hide();
  column->addWidget(reason_empty_);
  column->addWidget(view_);
  make_keys();
  connect(view_, &QTreeView::activated, this, &TablePage::ask_for_source);
  connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this, &TablePage::indent_down_to);
  connect(view_->header(), &QHeaderView::sectionResized, this, [this](int resized) {
    if (resized == 0) fit_indentation();
  });
  connect(view_, &QWidget::customContextMenuRequested, this, &TablePage::show_menu);
  connect(&document, &Document::tree_will_change, this, &TablePage::clear_tree);
  connect(&document, &Document::tree_changed, this, &TablePage::take_tree);
  connect(&document, &Document::metric_changed, this, &TablePage::sort_by_metric);
  connect(&document, &Document::function_asked, this, &TablePage::choose_function);
}

QString TablePage::id() const {
  return id_of(reading_);
}

QString TablePage::title() const {
  return reading_ == Reading::TopDown ? "Top-down" : reading_ == Reading::BottomUp ? "Bottom-up" : "Flat";
}

QString TablePage::reason_empty() const {
  const CallTree& tree = document().tree();
  const bool is_measured =
      std::any_of(tree.totals.begin(), tree.totals.end(), [](double total) { return total > 0; });
  if (is_measured) return {};
  return document().chosen_time() ? "the selected threads have no samples in the selected time"
                                  : "nothing was measured for the selected threads";
}

QWidget* TablePage::make_bar() {
  auto* const bar = new QWidget;
  auto* const line = new QHBoxLayout(bar);
  line->setContentsMargins(4, 2, 4, 2);
  line->addWidget(search_);
  zoom_label_->setObjectName("zoom");
  zoom_label_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  line->addWidget(zoom_label_, 1);
  merges_->setToolTip("Fold recursive calls into their outermost frame");
  merges_->setChecked(document().is_recursion_merged());
  line->addWidget(merges_);
  auto* const label = new QLabel("Hide bel&ow");
  label->setBuddy(threshold_);
  threshold_->setObjectName("threshold");
  threshold_->setSuffix(" %");
  threshold_->setRange(0, 100);
  threshold_->setSingleStep(0.1);
  threshold_->setKeyboardTracking(false);
  threshold_->setToolTip("Hide rows below this share of every metric");
  line->addWidget(label);
  line->addWidget(threshold_);
  connect(search_, &SearchField::changed, this, &TablePage::search);
  connect(search_, &SearchField::next_asked, this, [this] { go_to_found(true); });
  connect(search_, &SearchField::previous_asked, this, [this] { go_to_found(false); });
  connect(search_, &SearchField::left, this, [this] { view_->setFocus(); });
  connect(zoom_label_, &QLabel::linkActivated, this, [this](const QString& link) { zoom(link.toUInt()); });
  connect(merges_, &QCheckBox::toggled, this,
          [this](bool is_on) { this->document().merge_recursion(is_on); });
  connect(threshold_, &QDoubleSpinBox::valueChanged, this, &TablePage::hide_below);
  return bar;
}

void TablePage::make_keys() {
  const auto add = [this](const QString& name, const QList<QKeySequence>& keys, auto&& act) {
    auto* const action = new QAction(name, this);
    action->setShortcuts(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, act);
    addAction(action);
  };
  add("Search", {QKeySequence::Find}, [this] { search_->start(); });
  add("Next match", {QKeySequence::FindNext}, [this] { go_to_found(true); });
  add("Previous match", {QKeySequence::FindPrevious}, [this] { go_to_found(false); });
}

// Letters are shortcuts in the table only; elsewhere they are typed. A page gets its width after it is
// filled.
bool TablePage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == view_->viewport()) {
    if (event->type() == QEvent::Resize && was_filled_) columns_.give_rest_to_functions();
    return false;
  }
  if (event->type() != QEvent::KeyPress) return false;
  const auto* const key = static_cast<QKeyEvent*>(event);
  if (key->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) return false;
  switch (key->key()) {
    case Qt::Key_H:
      show_hot_path();
      return true;
    case Qt::Key_I:
      ask_for_instructions();
      return true;
    case Qt::Key_Z:
      zoom_to_selected();
      return true;
    case Qt::Key_Backspace:
      zoom_back();
      return true;
    case Qt::Key_Asterisk:
      open_all_below();
      return true;
    case Qt::Key_C:
      columns_.show_menu({0, view_->header()->height()});
      return true;
    default:
      return false;
  }
}

void TablePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  fill();
  if (asked_function_ != kNone) choose_function(asked_function_);
}

// Records the open rows, to be opened again in the next tree.
void TablePage::clear_tree() {
  if (is_filled_) {
    opened_.clear();
    remember_opened({});
    columns_.keep_widths();
    sortings_[compares_] = {model_.sorted_key(), model_.sort_order()};
    chosen_ = path_of(view_->currentIndex()).join('\n');
  }
  is_filled_ = false;
  zooms_.clear();
  asked_function_ = kNone;
  model_.show(nullptr);
  tell_zoom();
}

void TablePage::take_tree() {
  {
    const QSignalBlocker blocker(merges_);
    merges_->setChecked(document().is_recursion_merged());
  }
  if (isVisible()) fill();
}

void TablePage::fill() {
  if (is_filled_) return;
  is_filled_ = true;
  reason_empty_->setText(reason_empty());
  reason_empty_->setVisible(!reason_empty_->text().isEmpty());
  columns_.leave(document().tree());
  model_.show(&document().tree());
  sort_by_metric();
  search();
  if (model_.canFetchMore({})) model_.fetchMore({});
  if (!was_filled_) columns_.give_rest_to_functions();
  if (was_filled_) open_again({});
  if (!was_filled_ && reading_ == Reading::TopDown) show_hot_path();
  if (!view_->currentIndex().isValid()) view_->setCurrentIndex(model_.index(0, 0));
  was_filled_ = true;
}

// Sorts by the metric if it has changed, else as the user sorted last.
void TablePage::sort_by_metric() {
  if (!is_filled_) return;
  const CallTree& tree = document().tree();
  const size_t metric = document().metric();
  columns_.fill(tree, metric);
  model_.set_metric(metric);
  if (tree.metrics() == 0) return;
  view_->setSortingEnabled(true);
  // Two compared runs have a sort order of their own; the previous order returns with a single run.
  const bool is_other_mode = std::exchange(compares_, tree.compared.has_value()) != tree.compared.has_value();
  const Sorting& last = sortings_[compares_];
  int column = is_other_mode ? model_.column_of(last.key) : model_.sorted_column();
  Qt::SortOrder order = is_other_mode ? last.order : model_.sort_order();
  if (column < 0 || sorted_metric_ != metric) {
    column = model_.column_of(heaviest_key(tree, metric, reading_ == Reading::TopDown));
    order = Qt::DescendingOrder;
  }
  sorted_metric_ = metric;
  view_->sortByColumn(column, order);
}

void TablePage::search() {
  if (is_filled_) model_.set_found(search_->matches(document().tree()));
}

void TablePage::go_to_found(bool forward) {
  const std::vector<uint32_t> found = model_.found_rows();
  if (found.empty()) return;
  const uint32_t current = model_.row_of(view_->currentIndex());
  size_t at = 0;
  if (reading_ == Reading::TopDown) {
    assert(std::ranges::is_sorted(found));
    at = static_cast<size_t>((forward ? std::upper_bound(found.begin(), found.end(), current)
                                      : std::lower_bound(found.begin(), found.end(), current)) -
                             found.begin());
    if (current == kNone) at = 0;
  } else if (const auto here = std::find(found.begin(), found.end(), current); here != found.end()) {
    at = static_cast<size_t>(here - found.begin()) + (forward ? 1 : 0);
  }
  // Skips rows hidden by the threshold or the zoom.
  for (size_t tried = 0; tried < found.size(); ++tried) {
    const size_t next =
        forward ? (at + tried) % found.size() : (at + 2 * found.size() - 1 - tried) % found.size();
    const QModelIndex index = model_.index_of(found[next]);
    if (!index.isValid()) continue;
    choose_row(index);
    return search_->tell(QString("%L1 of %L2").arg(next + 1).arg(found.size()));
  }
  search_->tell("hidden");
}

void TablePage::choose_function(uint32_t frame) {
  if (!isVisible() || !is_filled_) {
    asked_function_ = frame;
    return;
  }
  asked_function_ = kNone;
  std::vector<bool> wanted(document().tree().frames.size(), false);
  wanted[frame] = true;
  Rows& rows = *model_.rows();
  const std::vector<uint32_t> all = rows.rows_of(wanted);
  const CallTree& tree = document().tree();
  const size_t metric = document().metric();
  // For two runs, also rows that only one of them has.
  const auto weight = [&](uint32_t row) {
    const double one = rows.weight(row, metric);
    return tree.compared ? std::max(one, rows.weight(row, metric + tree.compared->count)) : one;
  };
  const auto heaviest =
      std::max_element(all.begin(), all.end(), [&](uint32_t a, uint32_t b) { return weight(a) < weight(b); });
  if (heaviest == all.end()) return;
  QModelIndex index = model_.index_of(*heaviest);
  if (!index.isValid()) {  // hidden by the zoom
    zoom(kNone);
    index = model_.index_of(*heaviest);
  }
  choose_row(index);
}

void TablePage::ask_for_source() {
  const uint32_t row = model_.row_of(view_->currentIndex());
  if (row == kNone) return;
  Rows& rows = *model_.rows();
  const SourceLocation location =
      rows.location(row, placed_by(document().tree(), rows, row, document().metric()));
  if (location.known()) document().ask_for_source(location.file, location.line);
}

void TablePage::ask_for_instructions() {
  const uint32_t row = model_.row_of(view_->currentIndex());
  if (row == kNone) return;
  const uint32_t frame = model_.rows()->frame(row);
  document().ask_for_page("source");
  document().ask_for_function(frame);
}

void TablePage::show_menu(const QPoint& at) {
  const QModelIndex index = view_->indexAt(at);
  if (!index.isValid()) return;
  const uint32_t row = model_.row_of(index), frame = model_.rows()->frame(row);
  QMenu menu;
  menu.addAction("Source\tEnter", this, &TablePage::ask_for_source);
  menu.addAction("Instructions\tI", this, &TablePage::ask_for_instructions);
  menu.addAction("Hot path\tH", this, &TablePage::show_hot_path);
  if (reading_ != Reading::Flat) {
    menu.addAction("Zoom into\tZ", this, &TablePage::zoom_to_selected);
    menu.addAction("Zoom back\tBackspace", this, &TablePage::zoom_back)->setEnabled(!zooms_.empty());
  }
  menu.addSeparator();
  add_pages_of_function(
      menu, document(), [this, frame] { document().ask_for_function(frame); }, id());
  menu.addSeparator();
  menu.addAction("Copy name", this,
                 [this, frame] { QApplication::clipboard()->setText(model_.name_of(frame)); });
  menu.exec(view_->viewport()->mapToGlobal(at));
}

std::vector<PageKey> TablePage::keys() const {
  return {{"H", "open and select the hot path from this row"},
          {"I", "instructions of the function, next to its source"},
          {"C", "select columns and derived metrics"},
          {"*", "open everything below the row, up to 2,000 rows"},
          {"Z, Backspace", "show only the row and what is below it; back to the previous view"},
          {"Ctrl+F, F3, Shift+F3", "search; next and previous match"}};
}

}  // namespace prof::viewer
