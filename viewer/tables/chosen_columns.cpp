#include "viewer/tables/chosen_columns.h"

#include <QHeaderView>
#include <QMenu>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "viewer/tables/cost_delegate.h"
#include "viewer/tables/derived_dialog.h"

namespace prof::viewer {

namespace {

constexpr size_t kMetricsAtFirst = 2;
constexpr const char* kWidths = "/widths";  // setting for the widths that the user gave
constexpr const char* kPlaces =
    "/places";  // setting for the keys from left to right, if the user moved columns
constexpr const char* kDerived = "derived";  // "name = formula", for all tables

QStringList derived() {
  return QSettings().value(kDerived).toStringList();
}

QString name_of(const QString& definition) {
  return definition.section(" = ", 0, 0);
}

QString formula_of(const QString& definition) {
  return definition.section(" = ", 1);
}

QString definition_of(const Column& column) {
  return column.title + " = " + QString::fromStdString(column.formula->text());
}

std::vector<Column> all_columns(const CallTree& tree) {
  std::vector<Column> columns = known_columns(tree);
  if (tree.compared) return columns;  // formulas apply to one run
  for (const QString& definition : derived()) {
    try {
      columns.push_back(derived_column(tree, name_of(definition), formula_of(definition)));
    } catch (const FormulaError&) {
      // This database lacks its metrics.
    }
  }
  return columns;
}

QStringList keys_at_first(const CallTree& tree) {
  if (tree.compared) return {"function", "place"};
  QStringList keys = {"function", "place", "module"};
  for (size_t m = 0; m < std::min(tree.metrics(), kMetricsAtFirst); ++m)
    keys << cost_key(tree, m, true) << cost_key(tree, m, false);
  return keys;
}

}  // namespace

ChosenColumns::ChosenColumns(const QString& name, bool is_inclusive, CostModel& model, QTreeView& view)
    : name_("columns/" + name), is_inclusive_(is_inclusive), model_(model), view_(view) {
  QHeaderView& header = *view.header();
  header.setContextMenuPolicy(Qt::CustomContextMenu);
  connect(&header, &QHeaderView::customContextMenuRequested, this, &ChosenColumns::show_menu);
  connect(&header, &QHeaderView::sectionResized, this, &ChosenColumns::remember_width);
  connect(&header, &QHeaderView::sectionMoved, this, &ChosenColumns::remember_places);
}

void ChosenColumns::set_width(int position) {
  const QFontMetrics font = view_.fontMetrics();
  const Column& column = model_.columns()[static_cast<size_t>(position)];
  const int title = font.horizontalAdvance(column.title) + 4 * font.averageCharWidth();
  int width = title;
  if (column.kind == ColumnKind::Function) width = least_of_functions();
  if (column.kind == ColumnKind::Place) width = 24 * font.averageCharWidth();
  if (column.kind == ColumnKind::Module) width = 20 * font.averageCharWidth();
  if (column.is_number()) width = std::max(title, width_of_cost(font));
  const QVariantMap given = QSettings().value(setting() + kWidths).toMap();
  is_busy_ = true;
  view_.header()->resizeSection(position, given.value(column.key, widths_.value(column.key, width)).toInt());
  is_busy_ = false;
}

// Widths that follow from the window's size do not count as the user's.
void ChosenColumns::remember_width(int position, int, int width) {
  if (is_busy_ || position >= model_.columnCount() || width == 0) return;
  QVariantMap given = QSettings().value(setting() + kWidths).toMap();
  given[model_.columns()[static_cast<size_t>(position)].key] = width;
  QSettings().setValue(setting() + kWidths, given);
}

void ChosenColumns::remember_places() {
  if (is_busy_) return;
  QStringList keys;
  for (int place = 0; place < view_.header()->count(); ++place)
    keys << model_.columns()[static_cast<size_t>(view_.header()->logicalIndex(place))].key;
  QSettings().setValue(setting() + kPlaces, keys);
}

// Columns that did not exist when the user moved columns stay after the others.
void ChosenColumns::take_places() {
  QHeaderView& header = *view_.header();
  int place = 0;
  is_busy_ = true;
  for (const QString& key : QSettings().value(setting() + kPlaces).toStringList())
    if (const int column = model_.column_of(key); column >= 0)
      header.moveSection(header.visualIndex(column), place++);
  is_busy_ = false;
}

int ChosenColumns::least_of_functions() const {
  return 45 * view_.fontMetrics().averageCharWidth();
}

void ChosenColumns::give_rest_to_functions() {
  const int function = model_.column_of("function");
  const bool is_given = QSettings().value(setting() + kWidths).toMap().contains("function");
  if (function < 0 || is_given) return;
  const int rest =
      view_.viewport()->width() - (view_.header()->length() - view_.header()->sectionSize(function));
  is_busy_ = true;
  view_.header()->resizeSection(function, std::max(rest, least_of_functions()));
  is_busy_ = false;
}

void ChosenColumns::insert(const CallTree& tree, const Column& column) {
  // In the order of all columns.
  const std::vector<Column> all = all_columns(tree);
  const auto rank = [&](const QString& key) {
    return std::find_if(all.begin(), all.end(), [&](const Column& other) { return other.key == key; }) -
           all.begin();
  };
  int position = 0;
  while (position < model_.columnCount() &&
         rank(model_.columns()[static_cast<size_t>(position)].key) < rank(column.key))
    ++position;
  model_.insert_column(position, column);
  set_width(position);
  take_places();
  mark_sorted();
}

// The header uses positions, which have changed; the rows keep their order.
void ChosenColumns::mark_sorted() {
  const QSignalBlocker blocker(view_.header());
  view_.header()->setSortIndicator(model_.sorted_column(), model_.sort_order());
}

void ChosenColumns::leave(const CallTree& tree) {
  if (compares_ != tree.compared.has_value()) return change_mode(tree);
  const std::vector<Column> all = all_columns(tree);
  for (int position = model_.columnCount() - 1; position >= 0; --position) {
    const QString key = model_.columns()[static_cast<size_t>(position)].key;
    if (std::ranges::any_of(all, [&](const Column& column) { return column.key == key; })) continue;
    if (!left_.contains(key)) left_ << key;
    model_.remove_column(position);
  }
}

void ChosenColumns::fill(const CallTree& tree, size_t metric) {
  tree_ = &tree;
  const bool is_first = model_.columnCount() == 0 && kept_.isEmpty();
  QStringList keys = model_.columnCount() > 0 ? shown_keys() : kept_;
  if (is_first) {
    keys = QSettings().value(setting(), keys_at_first(tree)).toStringList();
    keys << "function";
  }
  if (tree.compared) {
    for (const ChangePart part :
         {ChangePart::Before, ChangePart::After, ChangePart::Difference, ChangePart::Ratio})
      keys << change_key(tree, metric, is_inclusive_, part);
    keys << change_key(tree, metric, !is_inclusive_, ChangePart::Difference);
  } else if (tree.metrics() > 0) {
    keys << cost_key(tree, metric, true) << cost_key(tree, metric, false);
  }
  for (const Column& column : all_columns(tree))
    if (keys.contains(column.key) && model_.column_of(column.key) < 0) {
      insert(tree, column);
      left_.removeAll(column.key);
    }
  if (is_first && tree.compared) give_rest_to_functions();
}

void ChosenColumns::change_mode(const CallTree& tree) {
  kept_ = std::exchange(kept_of_other_mode_, shown_keys());
  std::swap(widths_, widths_of_other_mode_);
  left_.clear();
  while (model_.columnCount() > 0) model_.remove_column(model_.columnCount() - 1);
  compares_ = tree.compared.has_value();
}

void ChosenColumns::keep_widths() {
  for (int at = 0; at < model_.columnCount(); ++at)
    widths_[model_.columns()[static_cast<size_t>(at)].key] = view_.header()->sectionSize(at);
}

QStringList ChosenColumns::shown_keys() const {
  QStringList keys;
  for (const Column& column : model_.columns()) keys << column.key;
  return keys << left_;
}

void ChosenColumns::toggle(const CallTree& tree, const QString& key) {
  tree_ = &tree;
  const int shown = model_.column_of(key);
  if (shown == 0) return;
  if (shown > 0) {
    model_.remove_column(shown);
    mark_sorted();
  } else {
    for (const Column& column : all_columns(tree))
      if (column.key == key) insert(tree, column);
  }
  remember();
}

void ChosenColumns::add_derived(const CallTree& tree, const QString& name, const QString& formula) {
  tree_ = &tree;
  const Column column = derived_column(tree, name, formula);
  QStringList all = derived();
  all.removeIf([&](const QString& other) { return name_of(other) == name; });
  all << definition_of(column);
  QSettings().setValue(kDerived, all);
  if (const int shown = model_.column_of(column.key); shown >= 0) model_.remove_column(shown);
  insert(tree, column);
  remember();
}

void ChosenColumns::remove_derived(const QString& name) {
  QStringList all = derived();
  all.removeIf([&](const QString& other) { return name_of(other) == name; });
  QSettings().setValue(kDerived, all);
  if (const int shown = model_.column_of("=" + name); shown >= 0) {
    model_.remove_column(shown);
    mark_sorted();
  }
  remember();
}

void ChosenColumns::remember() const {
  QSettings().setValue(setting(), shown_keys());
}

void ChosenColumns::show_menu(const QPoint& at) {
  if (!tree_ || model_.columnCount() == 0) return;
  const CallTree& tree = *tree_;
  QMenu menu;
  QMenu* metric_menu = nullptr;
  size_t metric = SIZE_MAX;
  for (const Column& column : all_columns(tree)) {
    const bool is_of_metric = column.is_number() && column.kind != ColumnKind::Derived;
    if (is_of_metric && column.metric != metric) {
      metric = column.metric;
      metric_menu = menu.addMenu(QString::fromStdString(tree.metric(metric).name));
    }
    const bool is_derived = column.kind == ColumnKind::Derived;
    QMenu* const into = is_of_metric ? metric_menu : is_derived ? menu.addMenu(column.title) : &menu;
    QAction* const action = into->addAction(is_derived ? "Shown" : column.title);
    action->setCheckable(true);
    action->setChecked(model_.column_of(column.key) >= 0);
    action->setEnabled(column.kind != ColumnKind::Function);
    connect(action, &QAction::triggered, this, [this, key = column.key] { toggle(*tree_, key); });
    if (!is_derived) continue;
    into->setToolTip(column.meaning);
    into->addAction("Edit...", this, [this, name = column.title] { ask_for_derived(name); });
    into->addAction("Remove", this, [this, name = column.title] { remove_derived(name); });
  }
  menu.addSeparator();
  menu.addAction("Add a derived metric...", this, [this] { ask_for_derived({}); })
      ->setEnabled(!compares_ && tree.metrics() > 0);
  menu.exec(view_.header()->mapToGlobal(at));
}

void ChosenColumns::ask_for_derived(const QString& name) {
  DerivedDialog dialog(*tree_, view_.window());
  for (const QString& definition : derived())
    if (!name.isEmpty() && name_of(definition) == name) dialog.edit(name, formula_of(definition));
  dialog.take_by([this, &name](const QString& given, const QString& formula) {
    add_derived(*tree_, given, formula);  // throws before anything changes
    if (!name.isEmpty() && given != name) remove_derived(name);
  });
  dialog.exec();
}

}  // namespace prof::viewer
