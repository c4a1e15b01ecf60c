#include "viewer/flame/flame_page.h"

#include <QImage>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/analysis/database/databases.h"
#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"
#include "viewer/document/colours.h"

using namespace prof;
using namespace prof::viewer;

namespace {

// Of 10 s: work 7 s, of which 3 in leaf; rest 3 s, of which 1 in leaf.
Database sample() {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0, "main");
  for (const char* const name : {"main", "work", "rest", "leaf"}) builder.function(name, "sum.cpp", "sum", 1);
  builder.spend(0, {{"main", 10}, {"work", 20}}, 4);
  builder.spend(0, {{"main", 10}, {"work", 21}, {"leaf", 40}}, 3);
  builder.spend(0, {{"main", 11}, {"rest", 30}}, 2);
  builder.spend(0, {{"main", 11}, {"rest", 31}, {"leaf", 41}}, 1);
  return builder.build();
}

struct Shown {
  Shown() : folder(sample()), document(folder.path()), page(document) {
    page.resize(1000, 400);
    page.show();
    QCoreApplication::processEvents();
  }
  FlameWidget& flames() { return page.flames(); }
  QString name(uint32_t row) {
    const CallTree& tree = document.tree();
    return QString::fromStdString(frame_name(*tree.database, tree.frames[flames().rows()->frame(row)]));
  }
  const FlameBox& box(const QString& wanted, size_t level) {
    for (const FlameBox& box : flames().layout_of_flames().levels.at(level))
      if (box.row != kNone && name(box.row) == wanted) return box;
    FAIL(wanted.toStdString() << " is not on the level");
    throw 0;
  }
  // The share of the widget's width that has the colour of a function, on its level.
  double shown_share(const QString& wanted, size_t level) {
    const QImage picture = flames().grab().toImage();
    const QRect place = flames().place_of(box(wanted, level).row);
    const QRgb colour = colour_of_function(wanted.toStdString());
    int pixels = 0;
    for (int x = 0; x < picture.width(); ++x) pixels += picture.pixel(x, place.top() + 1) == colour;
    return pixels / static_cast<double>(picture.width());
  }

  test::DatabaseFolder folder;
  Document document;
  FlamePage page;
};

}  // namespace

TEST_CASE("widths are shares of the cost, in boxes and in pixels") {
  Shown shown;
  REQUIRE(shown.flames().layout_of_flames().levels.size() == 5);
  CHECK(shown.box("work", 3).weight == Approx(7));
  CHECK(shown.box("work", 3).end - shown.box("work", 3).begin == Approx(0.7));
  CHECK(shown.box("rest", 3).begin == Approx(0.7));
  CHECK(std::abs(shown.shown_share("work", 3) - 0.7) < 0.01);
  CHECK(std::abs(shown.shown_share("leaf", 4) - 0.4) < 0.01);
}

TEST_CASE("from the functions that spend on, widths are exclusive costs") {
  Shown shown;
  shown.page.findChild<QComboBox*>("direction")->setCurrentIndex(1);
  CHECK(shown.box("work", 1).weight == Approx(4));
  CHECK(shown.box("leaf", 1).weight == Approx(4));
  CHECK(shown.box("rest", 1).weight == Approx(2));
  CHECK(shown.box("work", 2).weight == Approx(3));  // of leaf's
}

TEST_CASE("a click zooms, and keys go back") {
  Shown shown;
  const QRect place = shown.flames().place_of(shown.box("rest", 3).row);
  QTest::mouseClick(&shown.flames(), Qt::LeftButton, {}, place.center());
  CHECK(shown.box("rest", 3).end - shown.box("rest", 3).begin == Approx(1));
  CHECK(shown.box("leaf", 4).end - shown.box("leaf", 4).begin == Approx(1.0 / 3));
  QTest::keyClick(&shown.flames(), Qt::Key_Backspace);
  CHECK(shown.flames().zoomed() == kNone);
  CHECK(shown.box("rest", 3).end - shown.box("rest", 3).begin == Approx(0.3));
}

TEST_CASE("keys move along the graph, and go to the source") {
  Shown shown;
  QSignalSpy spy(&shown.document, &Document::source_asked);
  for (int i = 0; i < 3; ++i) QTest::keyClick(&shown.flames(), Qt::Key_Down);
  CHECK(shown.name(shown.flames().chosen()) == "work");
  QTest::keyClick(&shown.flames(), Qt::Key_Right);
  CHECK(shown.name(shown.flames().chosen()) == "rest");
  QTest::keyClick(&shown.flames(), Qt::Key_Return, Qt::ControlModifier);
  REQUIRE(spy.size() == 1);
  CHECK(spy[0][1].toUInt() == 30);
  QTest::keyClick(&shown.flames(), Qt::Key_Return);
  CHECK(shown.name(shown.flames().zoomed()) == "rest");
}

TEST_CASE("a search tells the share of what it found") {
  Shown shown;
  shown.page.findChild<QLineEdit*>("search")->setText("^leaf$");
  CHECK(shown.page.findChild<QLabel*>("found")->text() == "40 % of all");
  CHECK(shown.shown_share("work", 3) == 0);  // dimmed
  CHECK(std::abs(shown.shown_share("leaf", 4) - 0.4) < 0.01);
}

TEST_CASE("tooltips have exact numbers, the place and the share") {
  Shown shown;
  const QString tip = shown.flames().tip_of(shown.box("work", 3));
  CHECK(tip.contains("CPUTIME: 7 s, 70 % of 10 s"));
  CHECK(tip.contains("in the function itself: 4 s"));
  CHECK(tip.contains("sum.cpp:"));
}

TEST_CASE("what is too narrow is merged, and nothing is lost") {
  const Database database = test::random_database(3, {2000, 2, 1, 10});
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  for (const Reading reading : {Reading::TopDown, Reading::BottomUp}) {
    const std::unique_ptr<Rows> rows = make_rows(reading, tree);
    const FlameLayout layout = lay_out_flames(*rows, 0, kNone, 0.01);
    REQUIRE(layout.levels.size() > 2);
    for (size_t level = 0; level < layout.levels.size(); ++level) {
      double end = 0;
      for (const FlameBox& box : layout.levels[level]) {
        CHECK(box.begin >= end - 1e-9);
        CHECK(box.end <= 1 + 1e-9);
        CHECK(box.end - box.begin >= 0.01 - 1e-9);
        end = box.end;
      }
    }
    double all = 0;
    for (const FlameBox& box : layout.levels[1]) all += box.weight;
    CHECK(all >= 0.98 * layout.levels[0][0].weight);
  }
}
