#include "viewer/tables/table_page.h"

#include <QHeaderView>
#include <QLineEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "tests/analysis/database/databases.h"
#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"

using namespace prof;
using namespace prof::viewer;

namespace {

// main calls work (9 s, of which 6 in inner and 1 in inner's own call of leaf) and rest (1 s).
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
  auto* const told = shown.page.findChild<QLabel*>("found");
  shown.page.activateWindow();
  field->setText("^LEAF$");
  CHECK(told->text() == "none");  // capital letters mean themselves
  field->setText("^leaf$");
  CHECK(told->text() == "1 function");
  QTest::keyClick(field, Qt::Key_Return);
  CHECK(shown.chosen() == "leaf");
  CHECK(shown.view().currentIndex().parent().data().toString() == "inner");
  CHECK(shown.view().currentIndex().data(kFoundRole).toBool());
  QTest::keyClick(field, Qt::Key_Return);
  CHECK(shown.view().currentIndex().parent().data().toString() == "rest");
  CHECK(told->text() == "2 of 2");
  QTest::keyClick(field, Qt::Key_Return, Qt::ShiftModifier);
  CHECK(shown.view().currentIndex().parent().data().toString() == "inner");
  field->setText("(");
  CHECK(told->text().contains("parenthesis"));
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

TEST_CASE("columns of metrics come back with all of the run") {
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
  // Nothing ran in it.
  document.choose_time(TimeRange{1, 2});
  CHECK(page.why_empty() == "the chosen threads did nothing in the chosen time");
}
