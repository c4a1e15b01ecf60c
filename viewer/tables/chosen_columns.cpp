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
  QStringList keys = {"function", "place", "module"};
  for (size_t m = 0; m < std::min(tree.metrics(), kMetricsAtFirst); ++m)
    keys << cost_key(tree, m, true) << cost_key(tree, m, false);
  return keys;
}

}  // namespace

ChosenColumns::ChosenColumns(const QString& name, CostModel& model, QTreeView& view)
    : name_("columns/" + name), model_(model), view_(view) {
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
  view_.header()->resizeSection(position, width);
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

void ChosenColumns::fill(const CallTree& tree, size_t metric) {
  tree_ = &tree;
  QStringList keys;
  if (model_.columnCount() > 0) {
    for (const Column& column : model_.columns()) keys << column.key;
  } else {
    keys = QSettings().value(name_, keys_at_first(tree)).toStringList();
    keys << "function";
  }
  if (tree.metrics() > 0) keys << cost_key(tree, metric, true) << cost_key(tree, metric, false);
  for (const Column& column : all_columns(tree))
    if (keys.contains(column.key) && model_.column_of(column.key) < 0) insert(tree, column);
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
  QStringList keys;
  for (const Column& column : model_.columns()) keys << column.key;
  QSettings().setValue(name_, keys);
}

void ChosenColumns::show_menu(const QPoint& at) {
  if (!tree_ || model_.columnCount() == 0) return;
  const CallTree& tree = *tree_;
  QMenu menu;
  QMenu* metric_menu = nullptr;
  size_t metric = SIZE_MAX;
  for (const Column& column : all_columns(tree)) {
    const bool is_of_metric = column.kind == ColumnKind::Cost || column.kind == ColumnKind::Spread;
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
  menu.addAction("Add a derived metric...", this, &ChosenColumns::ask_for_derived);
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
