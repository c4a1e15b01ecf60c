#include "viewer/flame/flame_page.h"

#include <QContextMenuEvent>
#include <QFile>
#include <QImage>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QToolTip>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/analysis/database/databases.h"
#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"
#include "viewer/document/colours.h"
#include "viewer/document/words.h"
#include "viewer/tables/table_text.h"

using namespace prof;
using namespace prof::viewer;

namespace {

// 10 s in total: work 7 s, of which 3 in leaf; rest 3 s, of which 1 in leaf.
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
  explicit Shown(const Database& database = sample())
      : folder(without_settings(database)), document(folder.path()), page(document) {
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
  // Returns the share of the widget's width that has the colour of a function, on its level.
  double shown_share(const QString& wanted, size_t level) {
    const QImage picture = flames().grab().toImage();
    const QRect place = flames().place_of(box(wanted, level).row);
    const QRgb colour = colour_of_function(wanted.toStdString());
    int pixels = 0;
    for (int x = 0; x < picture.width(); ++x) pixels += picture.pixel(x, place.top() + 1) == colour;
    return pixels / static_cast<double>(picture.width());
  }

  // Clears the graph's direction that other tests have stored.
  static const Database& without_settings(const Database& database) {
    QSettings().clear();
    return database;
  }

  test::DatabaseFolder folder;
  Document document;
  FlamePage page;
};

}  // namespace

TEST_CASE("frames of the difference of two profiles are as wide as what changed, up and down") {
  test::DatabaseBuilder builder;
  builder.metric("samples", "");
  const uint32_t thread = builder.thread(0, "main");
  builder.spend(thread, {{"outer", 1}, {"faster", 2}}, -6);
  builder.spend(thread, {{"outer", 1}, {"slower", 3}}, 6);
  builder.spend(thread, {{"other", 1}}, 4);
  Shown shown(builder.build());
  const auto width = [&](const char* name, size_t level) {
    const FlameBox& box = shown.box(name, level);
    return box.end - box.begin;
  };
  CHECK(width("outer", 2) == Approx(12.0 / 16));
  CHECK(width("other", 2) == Approx(4.0 / 16));
  CHECK(width("faster", 3) == Approx(6.0 / 16));
  CHECK(width("slower", 3) == Approx(6.0 / 16));
  CHECK(shown.box("faster", 3).weight == -6);
  CHECK(shown.box("outer", 2).weight == 0);
  shown.page.findChild<QComboBox*>("direction")->setCurrentIndex(1);  // callers
  CHECK(width("faster", 1) == Approx(6.0 / 16));
  CHECK(width("outer", 2) == Approx(6.0 / 16));
}

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
  CHECK(shown.box("work", 2).weight == Approx(3));  // from leaf
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
  CHECK(tip.contains("self: 4 s"));
  CHECK(tip.contains("sum.cpp:"));
}

TEST_CASE("widths are those of the metric, the threads and the time that are chosen") {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.metric("FAULTS", "");
  builder.thread(0, "main");
  builder.thread(1, "worker");
  for (const char* const name : {"main", "work", "rest"}) builder.function(name, "sum.cpp", "sum", 1);
  builder.spend(0, {{"main", 10}, {"work", 20}}, 6);
  builder.spend(0, {{"main", 11}, {"rest", 30}}, 2);
  builder.spend(1, {{"main", 11}, {"rest", 30}}, 2);
  builder.spend(1, {{"main", 10}, {"work", 20}}, 30, 1);
  builder.spend(1, {{"main", 11}, {"rest", 30}}, 70, 1);
  Database database = builder.build();
  const auto context = [&](const std::string& name) {
    for (uint32_t c = 0; c < database.contexts.size(); ++c)
      if (database.contexts[c].kind == ContextKind::Function &&
          database.functions[database.contexts[c].function].name == name)
        return c;
    return kNone;
  };
  constexpr uint64_t kBegin = 1'000'000'000, kMs = 1'000'000;
  database.traces = {test::trace_of({{kBegin, context("work")},
                                     {kBegin + 10 * kMs, context("rest")},
                                     {kBegin + 40 * kMs, kNone},
                                     {kBegin + 50 * kMs, kNone}}),
                     {}};
  Shown shown(database);
  const auto share = [&](const char* name) {
    const FlameBox& box = shown.box(name, 3);
    return box.end - box.begin;
  };
  CHECK(share("work") == Approx(0.6));
  CHECK(std::abs(shown.shown_share("work", 3) - 0.6) < 0.01);
  shown.document.choose_metric(1);
  CHECK(shown.box("work", 3).weight == Approx(30));
  CHECK(share("work") == Approx(0.3));
  CHECK(share("rest") == Approx(0.7));
  CHECK(std::abs(shown.shown_share("rest", 3) - 0.7) < 0.01);
  shown.document.choose_metric(0);
  shown.document.choose_threads({0});
  CHECK(share("work") == Approx(0.75));
  shown.document.choose_all_threads();
  shown.document.choose_time(TimeRange{kBegin + 5 * kMs, kBegin + 25 * kMs});
  REQUIRE(QTest::qWaitFor([&] { return !shown.document.is_time_awaited(); }, 20'000));
  CHECK(shown.box("work", 3).weight == Approx(0.005));
  CHECK(share("work") == Approx(0.25));
  CHECK(std::abs(shown.shown_share("work", 3) - 0.25) < 0.01);
}

TEST_CASE("the chosen frame is copied with those above it, and its numbers are shown by a key") {
  Shown shown;
  CHECK(shown.page.chosen_text() == "function\tCPUTIME\tshare\nall\t10.0 s\t100 %\n");
  for (int i = 0; i < 3; ++i) QTest::keyClick(&shown.flames(), Qt::Key_Down);
  CHECK(shown.page.chosen_text().toStdString() ==
        "function\tCPUTIME\tshare\nall\t10.0 s\t100 %\nmain thread\t10.0 s\t100 %\nmain\t10.0 s\t100 %\n"
        "work\t7.00 s\t70 %\n");
  QTest::keyClick(&shown.flames(), Qt::Key_Space);
  CHECK(QToolTip::text() == shown.flames().tip_of(shown.box("work", 3)));
}

TEST_CASE("the menu of a frame leads to its source and to other pages, by mouse and by key") {
  Shown shown;
  QSignalSpy pages(&shown.document, &Document::page_asked),
      functions(&shown.document, &Document::function_asked);
  const auto choose = [&](QContextMenuEvent::Reason reason, QPoint at, const QString& wanted) {
    bool is_done = false;
    QTimer::singleShot(0, [&] {
      auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      REQUIRE(menu);
      for (QAction* const action : menu->actions())
        if (action->text() == wanted) {
          action->trigger();
          is_done = true;
        }
      menu->close();
    });
    QContextMenuEvent event(reason, at, shown.flames().mapToGlobal(at));
    QApplication::sendEvent(&shown.flames(), &event);
    CHECK(is_done);
  };
  choose(QContextMenuEvent::Mouse, shown.flames().place_of(shown.box("rest", 3).row).center(),
         "Show in Bottom-up");
  CHECK(shown.name(shown.flames().chosen()) == "rest");
  CHECK(shown.flames().zoomed() == kNone);
  REQUIRE(pages.size() == 1);
  CHECK(pages[0][0] == "bottom-up");
  REQUIRE(functions.size() == 1);
  choose(QContextMenuEvent::Keyboard, {}, "Instructions");
  CHECK(pages.back()[0] == "source");
}

TEST_CASE("the graph is exported as a table of all its paths") {
  Shown shown;
  const test::TemporaryDirectory folder;
  const auto exported = [&] {
    write_csv(*shown.page.table()->model(), folder.path() / "flames.csv");
    QFile file(QString::fromStdString((folder.path() / "flames.csv").string()));
    REQUIRE(file.open(QIODevice::ReadOnly));
    return QString::fromUtf8(file.readAll()).split("\r\n", Qt::SkipEmptyParts);
  };
  QStringList lines = exported();
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == "depth,Function,Place,Module,CPUTIME incl,CPUTIME excl");
  CHECK(lines[3].startsWith("2,work,"));
  CHECK(lines[3].endsWith(",7,4"));
  shown.page.findChild<QComboBox*>("direction")->setCurrentIndex(1);
  lines = exported();
  CHECK(lines[1].section(',', 0, 1) == "0,work");
  CHECK(lines[1].endsWith(",4"));
}

TEST_CASE("which way round the graph is, is remembered") {
  Shown shown;
  shown.page.findChild<QComboBox*>("direction")->setCurrentIndex(1);
  const FlamePage again(shown.document);
  CHECK(again.findChild<QComboBox*>("direction")->currentIndex() == 1);
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

TEST_CASE("names that do not fit are shortened from the inside out") {
  const QFontMetrics font = QWidget().fontMetrics();
  const QString name = "std::__cxx11::basic_string<char, std::allocator<char> >::append(unsigned long, char)";
  CHECK(fitted_name(name, font, font.horizontalAdvance(name)) == name);
  const auto fitted = [&](const char* like) { return fitted_name(name, font, font.horizontalAdvance(like)); };
  const QString wide = fitted("std::__cxx11::basic_string<...>::append(unsigned long)");
  CHECK(wide.contains("basic_string"));
  CHECK(wide.contains("::append"));
  const QString narrow = fitted("appendapp");
  CHECK(narrow.startsWith("append"));
  CHECK(fitted_name("operator new(unsigned long)", font, font.horizontalAdvance("operator new") + 2) ==
        "operator new");
  for (int pixels = 20; pixels < font.horizontalAdvance(name); pixels += 7)
    CHECK(font.horizontalAdvance(fitted_name(name, font, pixels)) <= pixels);
}
