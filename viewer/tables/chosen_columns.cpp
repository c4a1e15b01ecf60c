#include "viewer/tables/chosen_columns.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "viewer/tables/cost_delegate.h"

namespace prof::viewer {

namespace {

constexpr size_t kMetricsAtFirst = 2;
constexpr const char* kDerived = "derived";  // "name = formula", of all tables

QStringList derived() {
  return QSettings().value(kDerived).toStringList();
}

QString definition_of(const Column& column) {
  return column.title + " = " + QString::fromStdString(column.formula->text());
}

std::vector<Column> all_columns(const CallTree& tree) {
  std::vector<Column> columns = known_columns(tree);
  if (tree.compared) return columns;  // formulas are of one run
  for (const QString& definition : derived()) {
    try {
      columns.push_back(derived_column(tree, definition.section(" = ", 0, 0), definition.section(" = ", 1)));
    } catch (const FormulaError&) {
      // Its metrics are not in this database.
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
}

void ChosenColumns::set_width(int position) {
  const QFontMetrics font = view_.fontMetrics();
  const Column& column = model_.columns()[static_cast<size_t>(position)];
  const int title = font.horizontalAdvance(column.title) + 4 * font.averageCharWidth();
  int width = title;
  if (column.kind == ColumnKind::Function) width = 45 * font.averageCharWidth();
  if (column.kind == ColumnKind::Place) width = 24 * font.averageCharWidth();
  if (column.kind == ColumnKind::Module) width = 20 * font.averageCharWidth();
  if (column.is_number()) width = std::max(title, width_of_cost(font));
  view_.header()->resizeSection(position, widths_.value(column.key, width));
}

void ChosenColumns::give_rest_to_functions() {
  const int rest = view_.viewport()->width() - view_.header()->length();
  const int function = model_.column_of("function");
  if (rest > 0 && function >= 0)
    view_.header()->resizeSection(function, view_.header()->sectionSize(function) + rest);
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
  mark_sorted();
}

// The header goes by positions, which have changed; the rows are sorted as they were.
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
  all.removeIf([&](const QString& other) { return other.section(" = ", 0, 0) == name; });
  all << definition_of(column);
  QSettings().setValue(kDerived, all);
  if (const int shown = model_.column_of(column.key); shown >= 0) model_.remove_column(shown);
  insert(tree, column);
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
    QAction* const action = (is_of_metric ? metric_menu : &menu)->addAction(column.title);
    action->setCheckable(true);
    action->setChecked(model_.column_of(column.key) >= 0);
    action->setEnabled(column.kind != ColumnKind::Function);
    connect(action, &QAction::triggered, this, [this, key = column.key] { toggle(*tree_, key); });
  }
  menu.addSeparator();
  menu.addAction("Add a derived metric...", this, &ChosenColumns::ask_for_derived)->setEnabled(!compares_);
  menu.exec(view_.header()->mapToGlobal(at));
}

void ChosenColumns::ask_for_derived() {
  QDialog dialog(&view_);
  dialog.setWindowTitle("Derived metric");
  auto* const form = new QFormLayout(&dialog);
  auto* const name = new QLineEdit;
  auto* const formula = new QLineEdit;
  auto* const failure = new QLabel;
  failure->setWordWrap(true);
  formula->setMinimumWidth(60 * dialog.fontMetrics().averageCharWidth());
  formula->setPlaceholderText(cost_key(*tree_, 0, true) + " / 1000");
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  form->addRow("Name", name);
  form->addRow("Formula", formula);
  form->addRow(failure);
  form->addRow(buttons);
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  connect(buttons, &QDialogButtonBox::accepted, &dialog, [&] {
    try {
      add_derived(*tree_, name->text().isEmpty() ? formula->text() : name->text().replace("=", " "),
                  formula->text());
      dialog.accept();
    } catch (const FormulaError& error) {
      failure->setText(error.what());
    }
  });
  dialog.exec();
}

}  // namespace prof::viewer
