#include "viewer/tables/table_page.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "tests/analysis/database/databases.h"
#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"
#include "viewer/tables/table_text.h"

using namespace prof;
using namespace prof::viewer;

namespace {

// main calls work (9 s, of which 6 in inner and 1 in leaf, which inner calls) and rest (1 s).
Database sample() {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.metric("FAULTS", "");
  builder.thread(0, "main");
  builder.thread(1, "worker");
  for (const char* const name : {"main", "work", "inner", "leaf", "rest"})
    builder.function(name, "sum.cpp", "sum", 1);
  builder.spend(0, {{"main", 10}, {"work", 20}}, 2);
  builder.spend(0, {{"main", 10}, {"work", 21}, {"inner", 30}}, 4);
  builder.spend(1, {{"main", 10}, {"work", 21}, {"inner", 30}}, 2);
  builder.spend(0, {{"main", 10}, {"work", 21}, {"inner", 31}, {"leaf", 40}}, 1);
  builder.spend(1, {{"main", 11}, {"rest", 50}}, 1);
  builder.spend(1, {{"main", 11}, {"rest", 50}}, 100, 1);
  builder.spend(1, {{"main", 11}, {"rest", 50}, {"leaf", 41}}, 5, 1);
  return builder.build();
}

struct Shown {
  explicit Shown(Reading reading) : folder(sample()), document(folder.path()), page(reading, document) {
    QSettings().clear();
    page.resize(1000, 600);
    page.show();
  }
  QTreeView& view() { return *static_cast<QTreeView*>(page.table()); }
  QString chosen() { return view().currentIndex().siblingAtColumn(0).data().toString(); }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(&view(), key, modifiers); }
  QString text(const QModelIndex& index, const char* key) {
    return index.siblingAtColumn(page.model().column_of(key)).data().toString();
  }

  test::DatabaseFolder folder;
  Document document;
  TablePage page;
};

}  // namespace

TEST_CASE("the hot path is open from the start, and found by a key") {
  Shown shown(Reading::TopDown);
  CHECK(shown.chosen() == "inner");
  CHECK(shown.text(shown.view().currentIndex(), "CPUTIME.incl").toStdString() == "7.00 s  70 %");
  shown.view().setCurrentIndex(shown.page.model().index(0, 0));
  CHECK(shown.chosen() == "main thread");
  shown.press(Qt::Key_H);
  CHECK(shown.chosen() == "inner");
}

TEST_CASE("names of deep call paths are seen, and are indented as others where there is room") {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0, "main");
  builder.function("down", "sum.cpp", "sum", 1);
  const auto depth = GENERATE(size_t{3}, size_t{60});
  builder.spend(0, std::vector<test::At>(depth, {"down", 10}), 1);
  const test::DatabaseFolder folder(builder.build());
  Document document(folder.path());
  QSettings().clear();
  TablePage page(Reading::TopDown, document);
  page.resize(1000, 600);
  page.show();
  auto& view = *static_cast<QTreeView*>(page.table());
  const int usual = 2 * page.fontMetrics().averageCharWidth();
  CHECK((view.indentation() == usual) == (depth == 3));
  const QRect name = view.visualRect(view.currentIndex());
  CHECK(name.width() >= view.columnWidth(0) / 3);
  view.header()->resizeSection(0, 4000);
  CHECK(view.indentation() == usual);
}

TEST_CASE("tables are sorted by cost from the start, and by the document's metric") {
  Shown shown(Reading::Flat);
  CHECK(shown.page.model().index(0, 0).data().toString() == "inner");
  shown.document.choose_metric(1);
  CHECK(shown.page.model().index(0, 0).data().toString() == "rest");
  CHECK(shown.page.model().index(1, 0).data().toString() == "leaf");
}

TEST_CASE("what the user sorted by stays when threads and columns are chosen") {
  Shown shown(Reading::Flat);
  shown.view().sortByColumn(shown.page.model().column_of("function"), Qt::AscendingOrder);
  const auto is_sorted = [&] {
    const CostModel& model = shown.page.model();
    bool rises = true;
    for (int row = 1; row < model.rowCount(); ++row)
      rises &= model.index(row - 1, 0).data().toString() <= model.index(row, 0).data().toString();
    return rises && model.rowCount() > 1;
  };
  CHECK(is_sorted());
  shown.document.choose_threads({1});
  CHECK(is_sorted());
  shown.document.choose_metric(1);
  CHECK(shown.page.model().index(0, 0).data().toString() == "rest");
  shown.document.choose_threads({0, 1});
  const int column = shown.view().header()->sortIndicatorSection();
  CHECK(column == shown.page.model().column_of("FAULTS.excl"));
}

TEST_CASE("rows go to their source") {
  Shown shown(Reading::TopDown);
  QSignalSpy spy(&shown.document, &Document::source_asked);
  shown.press(Qt::Key_Return);
  REQUIRE(spy.size() == 1);
  CHECK(spy[0][1].toUInt() == 30);
}

TEST_CASE("a search goes from one match to the next and opens their paths") {
  Shown shown(Reading::TopDown);
  auto* const field = shown.page.findChild<QLineEdit*>("search");
  auto* const found = shown.page.findChild<QLabel*>("found");
  shown.page.activateWindow();
  field->setText("^LEAF$");
  CHECK(found->text() == "none");  // capital letters match only capital letters
  field->setText("^leaf$");
  CHECK(found->text() == "1 function");
  QTest::keyClick(field, Qt::Key_Return);
  CHECK(shown.chosen() == "leaf");
  CHECK(shown.view().currentIndex().parent().data().toString() == "inner");
  CHECK(shown.view().currentIndex().data(kFoundRole).toBool());
  QTest::keyClick(field, Qt::Key_Return);
  CHECK(shown.view().currentIndex().parent().data().toString() == "rest");
  CHECK(found->text() == "2 of 2");
  QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
  CHECK(shown.view().currentIndex().parent().data().toString() == "inner");
  field->setText("(");
  CHECK(found->text().contains("parenthesis"));
}

TEST_CASE("a row is zoomed into, and back") {
  Shown shown(Reading::TopDown);
  shown.press(Qt::Key_Z);
  REQUIRE(shown.page.model().rowCount() == 1);
  CHECK(shown.page.model().index(0, 0).data().toString() == "inner");
  CHECK(shown.page.findChild<QLabel*>("zoom")->text().contains("work"));
  shown.press(Qt::Key_Backspace);
  CHECK(shown.page.model().index(0, 0).data().toString() == "main thread");
  CHECK(shown.chosen() == "inner");
  CHECK(shown.page.findChild<QLabel*>("zoom")->text().isEmpty());
}

TEST_CASE("what is open stays open when threads are chosen") {
  Shown shown(Reading::TopDown);
  shown.document.choose_threads({1});
  CHECK(shown.chosen() == "inner");
  CHECK(shown.text(shown.view().currentIndex(), "CPUTIME.excl").toStdString() == "2.00 s  67 %");
  CHECK(shown.view().isExpanded(shown.view().currentIndex().parent()));
}

TEST_CASE("a function is chosen where it is heaviest, at once or when the page is shown") {
  Shown shown(Reading::TopDown);
  uint32_t leaf = 0;
  while (shown.page.model().name_of(leaf) != "leaf") ++leaf;
  shown.document.ask_for_function(leaf);
  CHECK(shown.chosen() == "leaf");
  CHECK(shown.view().currentIndex().parent().data().toString() == "inner");
  shown.view().setCurrentIndex(shown.page.model().index(0, 0));
  shown.page.hide();
  shown.document.choose_metric(1);
  shown.document.ask_for_function(leaf);
  CHECK(shown.chosen() == "main thread");
  shown.page.show();
  CHECK(shown.view().currentIndex().parent().data().toString() == "rest");
}

TEST_CASE("what is open and selected stays so when rows are hidden") {
  Shown shown(Reading::TopDown);
  auto& threshold = *shown.page.findChild<QDoubleSpinBox*>("threshold");
  REQUIRE(shown.chosen() == "inner");
  const auto opened = [&] { return shown.view().isExpanded(shown.view().currentIndex().parent()); };
  for (const double percent : {1.0, 20.0, 0.0}) {
    threshold.setValue(percent);
    CAPTURE(percent);
    CHECK(shown.chosen() == "inner");
    CHECK(opened());
  }
  // The row itself is hidden: its parent is selected.
  threshold.setValue(80);
  CHECK(shown.chosen() == "work");
  CHECK(shown.view().isExpanded(shown.view().currentIndex().parent()));
}

TEST_CASE("all below a row is opened by a key") {
  Shown shown(Reading::TopDown);
  shown.view().collapseAll();
  shown.view().setCurrentIndex(shown.page.model().index(0, 0));
  shown.press(Qt::Key_Asterisk);
  const CostModel& model = shown.page.model();
  int open = 0;
  const std::function<void(const QModelIndex&)> count = [&](const QModelIndex& parent) {
    for (int row = 0; row < model.rowCount(parent); ++row) {
      const QModelIndex index = model.index(row, 0, parent);
      if (!model.hasChildren(index)) continue;
      CHECK(shown.view().isExpanded(index));
      ++open;
      count(index);
    }
  };
  count({});
  CHECK(open == 5);  // the entry, main, work, inner and rest
}

TEST_CASE("rows are copied in the order in which they are shown") {
  Shown shown(Reading::Flat);
  const CostModel& model = shown.page.model();
  REQUIRE(model.rowCount() >= 3);
  shown.view().clearSelection();
  for (const int row : {2, 0, 1})
    shown.view().selectionModel()->select(model.index(row, 0),
                                          QItemSelectionModel::Select | QItemSelectionModel::Rows);
  const QStringList lines = text_of_selection(shown.view()).split('\n', Qt::SkipEmptyParts);
  REQUIRE(lines.size() == 4);
  for (int row = 0; row < 3; ++row)
    CHECK(lines[row + 1].section('\t', 0, 0) == model.index(row, 0).data().toString());
}

TEST_CASE("an exported table has all rows, and the one that is shown loads none for it") {
  Shown shown(Reading::TopDown);
  shown.view().sortByColumn(shown.page.model().column_of("function"), Qt::AscendingOrder);
  CostModel& model = shown.page.model();
  const auto loaded = [&] {
    int rows = 0;
    const std::function<void(const QModelIndex&)> count = [&](const QModelIndex& parent) {
      rows += model.rowCount(parent);
      for (int row = 0; row < model.rowCount(parent); ++row) count(model.index(row, 0, parent));
    };
    count({});
    return rows;
  };
  const int before = loaded();
  const test::TemporaryDirectory folder;
  write_csv(model, folder.path() / "table.csv");
  CHECK(loaded() == before);
  CHECK(shown.chosen() == "inner");
  QFile file(QString::fromStdString((folder.path() / "table.csv").string()));
  REQUIRE(file.open(QIODevice::ReadOnly));
  QStringList rows;
  for (const QString& line : QString::fromUtf8(file.readAll()).split("\r\n", Qt::SkipEmptyParts))
    rows << line.section(',', 0, 1);
  CHECK(rows == QStringList{"depth,Function", "0,main thread", "1,main", "2,rest", "3,leaf", "2,work",
                            "3,inner", "4,leaf"});
  CHECK(rows.size() - 1 > before);
}

TEST_CASE("a table of threads that did nothing says so") {
  Shown shown(Reading::Flat);
  auto* const why = shown.page.findChild<QLabel*>("reason_empty");
  CHECK(why->isHidden());
  shown.document.choose_threads({});
  CHECK(why->isVisible());
  CHECK(why->text() == "nothing was measured for the selected threads");
  shown.document.choose_all_threads();
  CHECK(why->isHidden());
}

TEST_CASE("the menu of columns opens by a key; derived metrics are added, edited and removed there") {
  Shown shown(Reading::Flat);
  const CostModel& model = shown.page.model();
  // Selects the entry of that path in the menu that the key opens.
  const auto choose = [&](const QStringList& path, const std::function<void()>& then = {}) {
    bool is_done = false;
    QTimer::singleShot(0, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      REQUIRE(menu);
      QMenu* const top = menu;
      QAction* entry = nullptr;
      for (const QString& step : path) {
        const QList<QAction*> actions = menu->actions();
        const auto at = std::ranges::find(actions, step, &QAction::text);
        REQUIRE(at != actions.end());
        entry = *at;
        if (entry->menu()) menu = entry->menu();
      }
      if (then) QTimer::singleShot(0, [&then] { then(); });
      top->close();
      entry->trigger();
      is_done = true;
    });
    shown.press(Qt::Key_C);
    CHECK(is_done);
  };
  const auto type = [](const QString& name, const QString& formula) {
    auto* const dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    REQUIRE(dialog);
    CHECK(dialog->findChild<QLineEdit*>("formula")->placeholderText() == "CPUTIME.incl / 1000");
    const auto ok = [&] { dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->click(); };
    dialog->findChild<QLineEdit*>("formula")->setText("CPUTIME.");
    ok();
    CHECK(!dialog->findChild<QLabel*>("failure")->text().isEmpty());  // and it stays open
    dialog->findChild<QLineEdit*>("name")->setText(name);
    dialog->findChild<QLineEdit*>("formula")->setText(formula);
    ok();
  };
  choose({"CPUTIME", "CPUTIME excl max"});
  CHECK(model.column_of("CPUTIME.excl.max") > 0);
  choose({"Add a derived metric..."}, [&] { type("half", "CPUTIME.incl / 2"); });
  REQUIRE(model.column_of("=half") > 0);
  CHECK(shown.text(model.index(0, 0), "=half") == "3.5");
  choose({"half", "Edit..."}, [&] { type("third", "CPUTIME.incl / 3"); });
  CHECK(model.column_of("=half") < 0);
  CHECK(shown.text(model.index(0, 0), "=third") == "2.333");
  choose({"third", "Remove"});
  CHECK(model.column_of("=third") < 0);
  CHECK(QSettings().value("derived").toStringList().isEmpty());
}

TEST_CASE("the example of a formula is one, whatever the metric is called") {
  test::DatabaseBuilder builder;
  builder.metric("L1-misses", "");
  builder.thread(0, "main");
  builder.function("main", "sum.cpp", "sum", 1);
  builder.spend(0, {{"main", 10}}, 8000);
  const Database database = builder.build();
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  const QString example = formula_term(tree, 0, true) + " / 1000";
  CHECK(example == "[L1-misses].incl / 1000");
  Cost cost;
  cost.inclusive = 8000;
  CHECK(derived_column(tree, "k", example).formula->value([&](size_t) { return cost; }) == Approx(8));
}

TEST_CASE("widths and places of columns are remembered") {
  const test::DatabaseFolder folder(sample());
  QSettings().clear();
  Document document(folder.path());
  {
    TablePage page(Reading::Flat, document);
    page.resize(1000, 600);
    page.show();
    QHeaderView& header = *static_cast<QTreeView*>(page.table())->header();
    header.resizeSection(page.model().column_of("place"), 77);
    header.moveSection(page.model().column_of("CPUTIME.excl"), 1);
  }
  TablePage page(Reading::Flat, document);
  page.resize(1000, 600);
  page.show();
  const QHeaderView& header = *static_cast<QTreeView*>(page.table())->header();
  CHECK(header.sectionSize(page.model().column_of("place")) == 77);
  CHECK(header.visualIndex(page.model().column_of("CPUTIME.excl")) == 1);
  CHECK(header.visualIndex(page.model().column_of("function")) == 0);
}

TEST_CASE(
    "names have the width that other columns leave, also where the page gets its width after it was filled") {
  const test::DatabaseFolder folder(sample());
  QSettings().clear();
  Document document(folder.path());
  TablePage page(Reading::Flat, document);
  page.resize(400, 300);
  page.show();
  page.resize(1900, 600);
  QCoreApplication::processEvents();
  auto& view = *static_cast<QTreeView*>(page.table());
  CHECK(view.header()->length() == view.viewport()->width());
  page.resize(1500, 600);
  QCoreApplication::processEvents();
  CHECK(view.header()->length() == view.viewport()->width());
  const int function = page.model().column_of("function");
  view.header()->resizeSection(function, 333);  // by the user
  page.resize(1900, 600);
  QCoreApplication::processEvents();
  CHECK(view.header()->sectionSize(function) == 333);
}

TEST_CASE("rows below the threshold are hidden, and recursion is collapsed on request") {
  Shown shown(Reading::Flat);
  const int all = shown.page.model().rowCount();
  shown.page.findChild<QDoubleSpinBox*>("threshold")->setValue(60);
  QCoreApplication::processEvents();
  CHECK(shown.page.model().rowCount() < all);
  CHECK(!shown.document.is_recursion_merged());
  shown.page.findChild<QCheckBox*>()->click();
  CHECK(shown.document.is_recursion_merged());
  CHECK(shown.page.model().rowCount() > 0);
}

TEST_CASE("columns are remembered, derived ones too") {
  test::DatabaseFolder folder(sample());
  Document document(folder.path());
  QSettings().clear();
  {
    CostModel model(Reading::Flat);
    model.show(&document.tree());
    QTreeView view;
    view.setModel(&model);
    ChosenColumns columns("flat", false, model, view);
    columns.fill(document.tree(), 0);
    CHECK(model.column_of("CPUTIME.excl.max") < 0);
    columns.toggle(document.tree(), "CPUTIME.excl.max");
    columns.toggle(document.tree(), "module");
    columns.add_derived(document.tree(), "half", "CPUTIME.incl / 2");
    CHECK_THROWS_AS(columns.add_derived(document.tree(), "bad", "CPUTIME."), FormulaError);
  }
  TablePage page(Reading::Flat, document);
  page.show();
  CHECK(page.model().column_of("CPUTIME.excl.max") > page.model().column_of("CPUTIME.excl"));
  CHECK(page.model().column_of("module") < 0);
  CHECK(page.model().column_of("=half") == page.model().columnCount() - 1);
  CHECK(page.model().column_of("bad") < 0);
}

TEST_CASE("columns of metrics come back with the whole run") {
  Database database = sample();
  std::vector<TraceRecord> records;
  for (uint32_t c = 0; c < database.contexts.size(); ++c) records.push_back({1'000'000'000 + c * 1000u, c});
  database.traces = {test::trace_of(records), {}};
  QSettings().clear();
  const test::DatabaseFolder folder(database);
  Document document(folder.path());
  TablePage page(Reading::Flat, document);
  page.resize(1000, 600);
  page.show();
  document.choose_metric(1);
  const auto keys = [&] {
    QStringList all;
    for (const Column& column : page.model().columns()) all << column.key;
    return all;
  };
  const QStringList measured = keys();
  REQUIRE(measured.contains("FAULTS.excl"));
  document.choose_time(TimeRange{1'000'000'500, 1'000'004'000});
  REQUIRE(QTest::qWaitFor([&] { return !document.is_time_awaited(); }, 20'000));
  CHECK(keys() == QStringList{"function", "place", "module", "TRACED_TIME.incl", "TRACED_TIME.excl"});
  page.grab();
  CHECK(document.tree().totals[0] == Approx(3.5e-6));
  document.choose_time({});
  CHECK(keys() == measured);
  // Nothing ran in that time.
  document.choose_time(TimeRange{1, 2});
  CHECK(page.reason_empty() == "the selected threads have no samples in the selected time");
}
