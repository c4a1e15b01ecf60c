// Actions on the page in front: copy, sort and export.

#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QFileDialog>
#include <QHeaderView>
#include <QMenu>
#include <QTableView>
#include <QTreeView>

#include "viewer/tables/table_text.h"
#include "viewer/window/copying.h"
#include "viewer/window/main_window.h"
#include "viewer/window/screenshot.h"

namespace prof::viewer {

namespace {

// Returns an empty string if the user cancels. The dialog asks before it replaces a file, even if it adds the
// suffix.
QString ask_for_file(QWidget* window, const QString& title, const QString& name, const QString& kinds) {
  QFileDialog dialog(window, title, {}, kinds);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setDefaultSuffix(name.section('.', -1));
  dialog.selectFile(name);
  return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

// Sorts like a click on the title: numbers begin with the largest, and the same column again reverses the
// order.
void sort_by(QTreeView& tree, int column, Qt::SortOrder order) {
  tree.sortByColumn(column, order);
}
void sort_by(QTableView& table, int column, Qt::SortOrder order) {
  table.sortByColumn(column, order);
}

template <typename View>
void offer_sorting(View& view, QHeaderView& header) {
  QMenu menu(&view);
  menu.setObjectName("sort");
  for (int place = 0; place < header.count(); ++place) {
    const int column = header.logicalIndex(place);
    if (header.isSectionHidden(column)) continue;
    const QAbstractItemModel& model = *view.model();
    QAction* const action = menu.addAction(model.headerData(column, Qt::Horizontal).toString());
    const bool is_sorted = header.sortIndicatorSection() == column;
    const bool is_number = model.index(0, column).data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight;
    const bool falls = is_sorted ? header.sortIndicatorOrder() == Qt::AscendingOrder : is_number;
    action->setCheckable(true);
    action->setChecked(is_sorted);
    QObject::connect(action, &QAction::triggered, &view, [&view, column, falls] {
      sort_by(view, column, falls ? Qt::DescendingOrder : Qt::AscendingOrder);
    });
    if (is_sorted) menu.setActiveAction(action);
  }
  menu.exec(view.viewport()->mapToGlobal(QPoint(0, 0)));
}

bool is_seen(const QDockWidget& dock) {
  return !dock.visibleRegion().isEmpty();
}

}  // namespace

Page* MainWindow::page_in_front() const {
  for (QWidget* at = QApplication::focusWidget(); at; at = at->parentWidget())
    if (auto* const page = qobject_cast<Page*>(at)) return page;
  if (const auto at = docks_.find(raised_); at != docks_.end() && is_seen(*at->second)) return page(raised_);
  for (const std::string& id : kPages) {
    const auto at = docks_.find(QString::fromStdString(id));
    if (at != docks_.end() && is_seen(*at->second)) return page(at->first);
  }
  return nullptr;
}

void MainWindow::copy() {
  const QString text = text_to_copy(QApplication::focusWidget(), page_in_front());
  if (!text.isEmpty()) QApplication::clipboard()->setText(text);
}

// For the table with the keyboard focus, else the page's table.
void MainWindow::choose_sorting() {
  Page* const page = page_in_front();
  auto* view = qobject_cast<QAbstractItemView*>(QApplication::focusWidget());
  if (!view && page) view = page->table();
  if (view && !view->isVisible()) view = nullptr;
  if (auto* const tree = qobject_cast<QTreeView*>(view); tree && tree->isSortingEnabled())
    return offer_sorting(*tree, *tree->header());
  if (auto* const table = qobject_cast<QTableView*>(view); table && table->isSortingEnabled())
    return offer_sorting(*table, *table->horizontalHeader());
  if (page) tell("The table on the page " + page->title() + " cannot be sorted.");
}

void MainWindow::export_table() {
  Page* const page = page_in_front();
  if (!page) return;
  if (!page->table())
    return tell("The page " + page->title() + " has no table to export; Ctrl+Shift+P exports its picture.");
  const QString name = ask_for_file(this, "Export table", page->id() + ".csv", "CSV (*.csv)");
  if (name.isEmpty()) return;
  try {
    check_output(*document_, name.toStdString());
    write_csv(*page->table()->model(), name.toStdString());
  } catch (const std::exception& error) {
    fail(name.toStdString(), error.what());
  }
}

void MainWindow::export_picture() {
  Page* const page = page_in_front();
  if (!page) return;
  const QString name = ask_for_file(this, "Export picture", page->id() + ".png", "Pictures (*.png *.svg)");
  if (name.isEmpty()) return;
  if (!name.endsWith(".png") && !name.endsWith(".svg"))
    return fail(name.toStdString(), "expected a file name that ends in .png or .svg");
  try {
    check_output(*document_, name.toStdString());
    write_picture(*document_, *page, name.toStdString());
  } catch (const std::exception& error) {
    fail(name.toStdString(), error.what());
  }
}

}  // namespace prof::viewer
