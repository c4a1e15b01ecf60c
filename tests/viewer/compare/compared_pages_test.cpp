// Two runs compared, on the pages that show both. All numbers are computed by hand.

#include <QAbstractItemModelTester>
#include <QImage>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QTextBrowser>
#include <catch2/catch.hpp>

#include "tests/viewer/compare/two_runs.h"
#include "tests/viewer/database_folder.h"
#include "viewer/compare/diff_page.h"
#include "viewer/document/colours.h"
#include "viewer/document/other_run.h"
#include "viewer/flame/flame_page.h"
#include "viewer/tables/table_page.h"
#include "viewer/tables/table_text.h"

using namespace prof;
using namespace prof::viewer;

namespace {

struct Runs {
  Runs() : Runs(test::run_after()) {}
  explicit Runs(const Database& after) : first(test::run_before()), second(after), document(first.path()) {
    QSettings().clear();
  }
  void compare(const Comparing& how = {}) {
    document.compare_with(read_other_run(document.database(), second.path()), how);
  }

  test::DatabaseFolder first, second;
  Document document;
};

struct ShownTable : Runs {
  explicit ShownTable(Reading reading) : page(reading, document) {
    page.resize(1200, 600);
    page.show();
  }
  CostModel& model() { return page.model(); }
  QModelIndex find(const QString& function, const QModelIndex& parent = {}) {
    while (model().canFetchMore(parent)) model().fetchMore(parent);
    for (int row = 0; row < model().rowCount(parent); ++row) {
      const QModelIndex index = model().index(row, 0, parent);
      if (index.data().toString() == function) return index;
      if (const QModelIndex below = find(function, index); below.isValid()) return below;
    }
    return {};
  }
  std::string text(const QString& function, const QString& key) {
    return cell(function, key, Qt::DisplayRole).toString().toStdString();
  }
  QVariant cell(const QString& function, const QString& key, int role) {
    const QModelIndex row = find(function);
    REQUIRE(row.isValid());
    REQUIRE(model().column_of(key) >= 0);
    return row.siblingAtColumn(model().column_of(key)).data(role);
  }
  QStringList keys() {
    QStringList keys;
    for (const Column& column : model().columns()) keys << column.key;
    return keys;
  }

  TablePage page;
};

}  // namespace

TEST_CASE("flat tables have both runs, their difference and ratio, the largest difference first") {
  ShownTable shown(Reading::Flat);
  shown.compare();
  CHECK(shown.model().index(0, 0).data().toString() == "work");
  CHECK(shown.model().index(1, 0).data().toString() == "new_name");
  CHECK(shown.model().index(2, 0).data().toString() == "old_name");
  CHECK(shown.model().index(3, 0).data().toString() == "leaf");
  CHECK(shown.text("work", "CPUTIME.excl.before") == "4.00 s  40 %");
  CHECK(shown.text("work", "CPUTIME.excl.after") == "12.0 s  60 %");
  CHECK(shown.text("work", "CPUTIME.excl.difference") == "+8.00 s  +80 %");
  CHECK(shown.text("work", "CPUTIME.excl.ratio") == "x 3.00");
  CHECK(shown.text("leaf", "CPUTIME.excl.difference") == "-1.50 s  -15 %");
  CHECK(shown.text("rest", "CPUTIME.excl.difference") == "0");
}

TEST_CASE("what one run does not have is said") {
  ShownTable shown(Reading::Flat);
  shown.compare();
  CHECK(shown.text("new_name", "CPUTIME.excl.before") == "not present");
  CHECK(shown.text("new_name", "CPUTIME.excl.ratio") == "new");
  CHECK(shown.text("old_name", "CPUTIME.excl.after") == "not present");
  CHECK(shown.text("old_name", "CPUTIME.excl.ratio") == "gone");
  CHECK(!shown.cell("new_name", "CPUTIME.excl.before", kExactRole).isValid());
  CHECK(shown.cell("new_name", "CPUTIME.excl.difference", kExactRole).toDouble() == 5.5);
  CHECK(shown.cell("new_name", "CPUTIME.excl.difference", Qt::ToolTipRole)
            .toString()
            .contains("before: not present"));
}

TEST_CASE("a metric of one run only is not measured in the other") {
  Database without = test::run_after();
  without.metrics[0].name = "MISSES";
  Runs runs(without);
  runs.compare();
  REQUIRE(runs.document.tree().distinct_metrics() == 3);
  TablePage page(Reading::Flat, runs.document);
  runs.document.choose_metric(1);
  page.show();
  CHECK(page.model().index(0, page.model().column_of("FAULTS.excl.after")).data().toString() ==
        "not measured");
  runs.document.choose_metric(2);
  CHECK(page.model().index(0, page.model().column_of("MISSES.excl.before")).data().toString() ==
        "not measured");
  runs.document.end_comparison();
  CHECK(runs.document.metric() == 0);
}

TEST_CASE("paths match from the entry points and from the functions that spend") {
  ShownTable top_down(Reading::TopDown);
  top_down.compare();
  CHECK(top_down.text("main", "CPUTIME.incl.difference") == "+10.0 s  +100 %");
  CHECK(top_down.text("work", "CPUTIME.incl.before") == "7.00 s  70 %");
  CHECK(top_down.text("work", "CPUTIME.incl.after") == "13.5 s  68 %");
  CHECK(top_down.text("leaf", "CPUTIME.incl.ratio") == "x 0.50");
  ShownTable bottom_up(Reading::BottomUp);
  bottom_up.compare();
  const QModelIndex leaf = bottom_up.find("leaf");
  const QModelIndex caller = bottom_up.find("work", leaf);
  REQUIRE(caller.isValid());
  const int difference = bottom_up.model().column_of("CPUTIME.excl.difference");
  CHECK(caller.siblingAtColumn(difference).data().toString() == "-1.50 s  -15 %");
}

TEST_CASE("models of two runs keep the rules of models") {
  Runs runs;
  runs.compare();
  const CallTree& tree = runs.document.tree();
  for (const Reading reading : {Reading::TopDown, Reading::BottomUp, Reading::Flat}) {
    CostModel model(reading);
    model.show(&tree);
    for (const Column& column : known_columns(tree)) model.insert_column(model.columnCount(), column);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    if (model.canFetchMore({})) model.fetchMore({});
    model.sort(model.column_of("CPUTIME.incl.difference"), Qt::DescendingOrder);
    CHECK(model.rowCount() > 0);
  }
}

TEST_CASE("the end of a comparison brings everything back") {
  ShownTable shown(Reading::Flat);
  const QStringList before = shown.keys();
  auto& view = *static_cast<QTreeView*>(shown.page.table());
  view.sortByColumn(shown.model().column_of("CPUTIME.incl"), Qt::AscendingOrder);
  const CallTree* const tree = &shown.document.tree();
  shown.compare();
  CHECK(shown.keys() != before);
  CHECK(shown.model().sorted_key() == "CPUTIME.excl.difference");
  shown.document.end_comparison();
  CHECK(&shown.document.tree() == tree);
  CHECK(shown.keys() == before);
  CHECK(shown.model().sorted_key() == "CPUTIME.incl");
  CHECK(shown.model().sort_order() == Qt::AscendingOrder);
  CHECK(shown.text("work", "CPUTIME.excl") == "4.00 s  40 %");
  shown.compare();
  CHECK(shown.text("work", "CPUTIME.excl.ratio") == "x 3.00");
}

TEST_CASE("runs are swapped, and scaled to the same total") {
  ShownTable shown(Reading::Flat);
  shown.compare({.same_total = true});
  CHECK(shown.text("work", "CPUTIME.excl.after") == "6.00 s  60 %");
  CHECK(shown.text("work", "CPUTIME.excl.difference") == "+2.00 s  +20 %");
  shown.document.choose_comparing({.is_other_before = true});
  CHECK(shown.text("work", "CPUTIME.excl.before") == "12.0 s  60 %");
  CHECK(shown.text("work", "CPUTIME.excl.difference") == "-8.00 s  -40 %");
  CHECK(shown.text("new_name", "CPUTIME.excl.ratio") == "gone");
}

TEST_CASE("chosen threads are those of both runs") {
  ShownTable shown(Reading::Flat);
  shown.compare();
  shown.document.choose_threads({1});
  REQUIRE(shown.document.tree().compared);
  CHECK(shown.document.tree().totals == std::vector<double>{1, 100, 1, 50});
  shown.document.choose_metric(1);
  CHECK(shown.text("rest", "FAULTS.excl.difference") == "-50  -50 %");
}

TEST_CASE("a flame graph of two runs is as wide as one of them, and coloured by the difference") {
  Runs runs;
  FlamePage page(runs.document);
  page.resize(1000, 400);
  page.show();
  CHECK(!page.findChild<QWidget*>("legend")->isVisible());
  runs.compare();
  QCoreApplication::processEvents();
  CHECK(page.findChild<QWidget*>("legend")->isVisible());
  FlameWidget& flames = page.flames();
  const auto box = [&](const QString& wanted) -> const FlameBox* {
    for (const auto& level : flames.layout_of_flames().levels)
      for (const FlameBox& one : level)
        if (one.row != kNone && flames.tip_of(one).section('\n', 0, 0) == wanted) return &one;
    return nullptr;
  };
  REQUIRE(box("work"));
  CHECK(box("work")->weight == 13.5);
  CHECK(box("work")->end - box("work")->begin == Approx(13.5 / 20));
  CHECK(flames.tip_of(*box("work")).contains("12.0 s instead of 4.00 s, 8.00 s more (x 3.00)"));
  CHECK(box("new_name"));
  CHECK(!box("old_name"));
  const auto colour = [&](const QString& wanted) {
    const QImage picture = flames.grab().toImage();
    const QRect place = flames.place_of(box(wanted)->row);
    return picture.pixelColor(place.left() + 1, place.top() + 1);
  };
  CHECK(colour("work") == change_colour_of_function(6.5 / 13.5));
  CHECK(colour("new_name") == change_colour_of_function(1));
  CHECK(colour("leaf") == change_colour_of_function(-0.5));
  page.findChild<QComboBox*>("widths")->setCurrentIndex(1);
  CHECK(box("work")->end - box("work")->begin == Approx(0.7));
  CHECK(colour("old_name") == change_colour_of_function(-1));
  CHECK(!box("new_name"));
  page.findChild<QComboBox*>("direction")->setCurrentIndex(1);
  CHECK(box("old_name")->weight == 2);
  runs.document.end_comparison();
  CHECK(!page.findChild<QWidget*>("legend")->isVisible());
  CHECK(colour("work") == QColor(colour_of_function("work")));
}

TEST_CASE("the page diff says what changed most, with links to the rows") {
  Runs runs;
  DiffPage page(runs.document);
  page.show();
  CHECK(page.text().contains("no other run is compared"));
  CHECK(!page.reason_empty().isEmpty());
  runs.compare();
  CHECK(page.reason_empty().isEmpty());
  const QString text = page.text();
  CAPTURE(text.toStdString());
  CHECK(text.contains("CPUTIME: 20.0 s instead of 10.0 s, 10.0 s more (x 2.00)"));
  CHECK(text.contains("FAULTS: 50 instead of 100, 50 less (x 0.50)"));
  CHECK(text.contains("work (sum.cpp:20): 12.0 s instead of 4.00 s, 8.00 s more (x 3.00)"));
  CHECK(text.contains("new_name (sum.cpp:150): 5.50 s, new"));
  CHECK(text.contains("leaf (sum.cpp:40): 1.50 s instead of 3.00 s, 1.50 s less (x 0.50)"));
  CHECK(text.contains("old_name (sum.cpp:50): gone: was 2.00 s"));
  CHECK(!text.contains("rest"));
  QSignalSpy pages(&runs.document, &Document::page_asked),
      functions(&runs.document, &Document::function_asked);
  QSignalSpy sources(&runs.document, &Document::source_asked);
  auto* const browser = page.findChild<QTextBrowser*>();
  const QString html = browser->toHtml();
  const qsizetype at = html.indexOf("frame:top-down?of=");
  REQUIRE(at > 0);
  emit browser->anchorClicked(QUrl(html.mid(at, html.indexOf('"', at) - at)));
  REQUIRE(pages.size() == 1);
  CHECK(pages[0][0].toString() == "top-down");
  const uint32_t frame = functions[0][0].toUInt();
  const CallTree& tree = runs.document.tree();
  CHECK(frame_name(*tree.database, tree.frames[frame]) == "work");
  emit browser->anchorClicked(QUrl("line:0?of=20"));
  CHECK(sources[0][1].toUInt() == 20);
}

TEST_CASE("what chance makes comes last, and the larger part of the change first") {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0, "main");
  for (const char* const name : {"main", "work", "leaf", "old_name", "rest"})
    builder.function(name, "sum.cpp", "/a/sum", 1);
  builder.spend(0, {{"main", 10}, {"work", 20}}, 1);                // 3 s less
  builder.spend(0, {{"main", 10}, {"work", 21}, {"leaf", 40}}, 4);  // 1 s more
  builder.spend(0, {{"main", 11}, {"old_name", 50}}, 2.05);         // within the noise between runs
  builder.spend(0, {{"main", 12}, {"rest", 60}}, 1.01);
  Runs runs(builder.build());
  DiffPage page(runs.document);
  page.show();
  runs.compare();
  const QString text = page.text();
  CAPTURE(text.toStdString());
  const qsizetype less = text.indexOf("Functions that take less"),
                  more = text.indexOf("Functions that take more"), chance = text.indexOf("Within noise");
  CHECK((0 < less && less < more && more < chance));
  CHECK((less < text.indexOf("work (") && text.indexOf("work (") < more));
  CHECK((more < text.indexOf("leaf (") && text.indexOf("leaf (") < chance));
  CHECK(chance < text.indexOf("old_name ("));
  CHECK(chance < text.indexOf("rest ("));
}

TEST_CASE("nothing is different between equal databases") {
  Runs runs(test::run_before());
  DiffPage page(runs.document);
  page.show();
  runs.compare();
  CHECK(page.text().contains("CPUTIME: the same, 10.0 s"));
  CHECK(page.text().contains("No function takes more or less CPUTIME than before."));
}
