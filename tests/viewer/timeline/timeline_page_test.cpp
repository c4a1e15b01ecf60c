#include "viewer/timeline/timeline_page.h"
#include "viewer/document/colours.h"

#include <QAbstractItemModelTester>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <catch2/catch.hpp>
#include <map>

#include "tests/analysis/database/databases.h"
#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/tables/table_text.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr uint64_t kMs = 1'000'000;

// Row 0: `main` for 600 ms, its callee `work` for 300 ms, nothing for 100 ms. Row 1: from 500 ms on only a
// task of 10 us. Both end after a second.
Database two_rows() {
  Database database = test::random_database(1, {1, 2, 1, 0});
  database.contexts.clear();
  database.functions = {{"main", kNone, 0, kNone, 0}, {"work", kNone, 0, kNone, 0}};
  database.contexts.resize(3);
  database.contexts[0].kind = ContextKind::Entry;
  database.contexts[0].relation = Relation::Enclosing;
  database.contexts[0].entry = "main thread";
  database.contexts[1].parent = 0;
  database.contexts[1].function = 0;
  database.contexts[2].parent = 1;
  database.contexts[2].function = 1;
  database.summaries.clear();
  database.metrics = {{"CPUTIME", "sec", ""}};
  database.profiles.assign(2, {});
  for (int thread : {0, 1}) {
    Profile& profile = database.profiles[static_cast<size_t>(thread)];
    profile.id.rank = 0;
    profile.id.thread = thread;
    profile.id.thread_name = thread == 0 ? "first" : "second";
    profile.values = {{0, 0, {0, 1, 0}}, {1, 0, {0.7, 1, 0.7}}, {2, 0, {0.3, 0.3, 0.3}}};
  }
  const uint64_t begin = test::kTracesBegin;
  database.traces = {
      test::trace_of(
          {{begin, 1}, {begin + 600 * kMs, 2}, {begin + 900 * kMs, kNone}, {begin + 1000 * kMs, 1}}),
      test::trace_of({{begin + 500 * kMs, kNone},
                      {begin + 700 * kMs, 2},
                      {begin + 700 * kMs + 10'000, kNone},
                      {begin + 1000 * kMs, 1}})};
  return database;
}

class Shown {
 public:
  explicit Shown(const Database& database, QSize size = {1000, 500})
      : folder_(without_settings(database)), document(folder_.path()), page(document) {
    page.resize(size);
    page.show();
    settle();
    view = page.findChild<TimelineView*>();
    REQUIRE(view);
  }
  void settle() {
    REQUIRE(QTest::qWaitFor([this] { return page.is_complete(); }, 20'000));
  }

 private:
  // Clears the arrangement of the page that other tests have stored.
  static const Database& without_settings(const Database& database) {
    QSettings().clear();
    return database;
  }
  test::DatabaseFolder folder_;

 public:
  Document document;
  TimelinePage page;
  TimelineView* view = nullptr;

  QImage picture() { return view->viewport()->grab().toImage(); }
  QPoint at(double share, double down = 0.3) const {
    const QRect area = view->picture_area();
    return {area.left() + static_cast<int>(share * area.width()),
            area.top() + static_cast<int>(down * area.height())};
  }
  void wheel(QPoint where, int steps, Qt::KeyboardModifiers modifiers = {}) {
    QWheelEvent event(where, view->viewport()->mapToGlobal(where), {}, {0, 120 * steps}, Qt::NoButton,
                      modifiers, Qt::NoScrollPhase, false);
    QApplication::sendEvent(view->viewport(), &event);
  }
  std::map<QString, QString> times() const {
    std::map<QString, QString> result;
    const QAbstractItemModel& model = *page.findChild<QTreeView*>("times")->model();
    for (int row = 0; row < model.rowCount(); ++row)
      result[model.index(row, 0).data().toString()] = model.index(row, 1).data().toString();
    return result;
  }
  // Returns the share of a row's pixels that have a colour.
  double share_of(const QImage& image, const QColor& colour, double down) const {
    const QRect area = view->picture_area();
    int count = 0;
    for (int x = area.left(); x <= area.right(); ++x)
      count += image.pixelColor(x, at(0, down).y()).rgb() == colour.rgb();
    return static_cast<double>(count) / area.width();
  }
};

}  // namespace

TEST_CASE("a frame has the share of the pixels that it has of the time") {
  Shown shown(two_rows());
  const QImage image = shown.picture();
  const QPalette& palette = shown.page.palette();
  const double first = 3.0 / shown.view->picture_area().height();
  CHECK(shown.share_of(image, QColor(colour_of_function("main")), first) == Approx(0.6).margin(0.01));
  CHECK(shown.share_of(image, QColor(colour_of_function("work")), first) == Approx(0.3).margin(0.01));
  CHECK(shown.share_of(image, idle_colour(palette), first) == Approx(0.1).margin(0.01));
}

TEST_CASE("idle and unknown times differ, and a short task is seen") {
  Shown shown(two_rows());
  const QImage image = shown.picture();
  const QPalette& palette = shown.page.palette();
  const QRect area = shown.view->picture_area();
  const int middle = area.top() + 44 + 20, bottom = area.top() + 2 * 44 - 2;
  const auto colour = [&](double share, int y) { return image.pixelColor(shown.at(share).x(), y); };
  CHECK(colour(0.2, middle) == palette.color(QPalette::Base));
  CHECK(colour(0.6, middle) == idle_colour(palette));
  int seen = 0;
  for (int x = area.left(); x <= area.right(); ++x)
    seen += image.pixel(x, bottom) == colour_of_function("work");
  CHECK(seen >= 1);
  CHECK(seen <= 2);
}

TEST_CASE("the depth chooses which frame of the call path gives the colour") {
  Shown shown(two_rows());
  auto* const depth = shown.page.findChild<QSlider*>("depth");
  CHECK(depth->value() == 2);
  CHECK(depth->maximum() == 2);
  depth->setValue(1);
  CHECK(shown.document.depth() == 1u);
  shown.settle();
  const double first = 3.0 / shown.view->picture_area().height();
  CHECK(shown.share_of(shown.picture(), QColor(colour_of_function("main")), first) ==
        Approx(0.9).margin(0.01));
  CHECK(shown.times() == std::map<QString, QString>{{"main", "900 ms"}, {"(nothing ran)", "600 ms"}});
  shown.document.choose_depth({});
  CHECK(depth->value() == 2);
}

TEST_CASE("times by function are exactly those of what is shown") {
  Shown shown(two_rows());
  QAbstractItemModelTester tester(shown.page.findChild<QTreeView*>("times")->model(),
                                  QAbstractItemModelTester::FailureReportingMode::Fatal);
  CHECK(shown.times() ==
        std::map<QString, QString>{{"main", "600 ms"}, {"work", "300 ms"}, {"(nothing ran)", "600 ms"}});
  const uint64_t begin = test::kTracesBegin;
  shown.view->show_range({begin + 590 * kMs, begin + 690 * kMs});
  shown.settle();
  CHECK(shown.times() ==
        std::map<QString, QString>{{"main", "10 ms"}, {"work", "90 ms"}, {"(nothing ran)", "100 ms"}});
  shown.view->select(TimeRange{begin + 600 * kMs, begin + 601 * kMs});
  shown.settle();
  CHECK(shown.times() == std::map<QString, QString>{{"work", "1 ms"}, {"(nothing ran)", "1 ms"}});
  shown.view->select({});
  shown.page.findChild<QLineEdit*>("filter")->setText("second");
  shown.settle();
  CHECK(shown.times() == std::map<QString, QString>{{"(nothing ran)", "100 ms"}});
}

TEST_CASE("wheel, drag and keys move through the time") {
  Shown shown(two_rows());
  TimelineView& view = *shown.view;
  const TimeRange whole = view.shown();
  CHECK(whole == TimeRange{test::kTracesBegin, test::kTracesBegin + 1000 * kMs});

  SECTION("the wheel zooms at the pointer") {
    const QPoint where = shown.at(0.25);
    const uint64_t before = view.time_at(where.x());
    shown.wheel(where, 5);
    CHECK(view.shown().ns() < whole.ns() / 2);
    const auto moved = static_cast<double>(static_cast<int64_t>(view.time_at(where.x()) - before));
    CHECK(std::abs(moved) < 0.01 * static_cast<double>(whole.ns()));
    QTest::keyClick(&view, Qt::Key_Backspace);
    CHECK(view.shown() == whole);
  }
  SECTION("a drag moves") {
    view.show_range({whole.begin_ns + 400 * kMs, whole.begin_ns + 600 * kMs});
    QTest::mousePress(view.viewport(), Qt::LeftButton, {}, shown.at(0.2));
    QTest::mouseMove(view.viewport(), shown.at(0.5));
    QTest::mouseMove(view.viewport(), shown.at(0.7));
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, shown.at(0.7));
    CHECK(static_cast<double>(view.shown().begin_ns - whole.begin_ns) == Approx(300.0 * kMs).epsilon(0.02));
    CHECK(view.shown().ns() == 200 * kMs);
    CHECK(!view.cursor());
    QTest::keyClick(&view, Qt::Key_Backspace);
    CHECK(view.shown().begin_ns == whole.begin_ns + 400 * kMs);
  }
  SECTION("a drag with Shift selects, Enter goes there, Escape clears") {
    QTest::mousePress(view.viewport(), Qt::LeftButton, Qt::ShiftModifier, shown.at(0.2));
    QTest::mouseMove(view.viewport(), shown.at(0.3));
    QTest::mouseMove(view.viewport(), shown.at(0.4));
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, Qt::ShiftModifier, shown.at(0.4));
    REQUIRE(view.selected());
    CHECK(static_cast<double>(view.selected()->ns()) == Approx(200.0 * kMs).epsilon(0.02));
    QTest::keyClick(&view, Qt::Key_Return);
    CHECK(view.shown() == *view.selected());
    QTest::keyClick(&view, Qt::Key_Escape);
    CHECK(!view.selected());
  }
  SECTION("keys") {
    QTest::keyClick(&view, Qt::Key_Plus);
    CHECK(view.shown().ns() == 800 * kMs);
    const TimeRange zoomed = view.shown();
    QTest::keyClick(&view, Qt::Key_Right);
    CHECK(view.shown().begin_ns == zoomed.begin_ns + 80 * kMs);
    QTest::keyClick(&view, Qt::Key_Left);
    CHECK(view.shown() == zoomed);
    QTest::keyClick(&view, Qt::Key_Home);
    CHECK(view.shown() == whole);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Down);
    REQUIRE(view.cursor());
    CHECK(view.cursor()->row == 1);
  }
  SECTION("a click on the minimap goes there") {
    view.show_range({whole.begin_ns, whole.begin_ns + 100 * kMs});
    const QRect map = view.minimap_area();
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, {map.left() + map.width() / 2, map.center().y()});
    CHECK(static_cast<double>(view.shown().begin_ns - whole.begin_ns) == Approx(450.0 * kMs).epsilon(0.02));
  }
  CHECK(shown.document.shown_time().value_or(whole) == view.shown());
}

TEST_CASE("keys move the cursor in time, and select the time on the way") {
  Shown shown(two_rows());
  TimelineView& view = *shown.view;
  const uint64_t begin = test::kTracesBegin;
  QTest::keyClick(&view, Qt::Key_Right, Qt::ControlModifier);
  REQUIRE(view.cursor());
  CHECK(view.cursor()->time_ns == begin + 500 * kMs);
  QTest::keyClick(&view, Qt::Key_Right, Qt::ControlModifier);
  CHECK(view.cursor()->time_ns == begin + 520 * kMs);
  CHECK(!view.selected());
  QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
  QTest::keyClick(&view, Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(view.selected() == TimeRange{begin + 480 * kMs, begin + 520 * kMs});
  CHECK(view.cursor()->time_ns == begin + 480 * kMs);
  CHECK(view.shown() == view.whole());

  QTest::keyClick(&view, Qt::Key_Period);  // where `work` begins
  CHECK(view.cursor()->time_ns == begin + 600 * kMs);
  QTest::keyClick(&view, Qt::Key_Period);
  CHECK(view.cursor()->time_ns == begin + 900 * kMs);
  QTest::keyClick(&view, Qt::Key_Comma);
  QTest::keyClick(&view, Qt::Key_Comma);
  CHECK(view.cursor()->time_ns == begin);
  // The shown time moves with the cursor.
  view.show_range({begin, begin + 100 * kMs});
  QTest::keyClick(&view, Qt::Key_Period);
  CHECK(view.shown() == TimeRange{begin + 550 * kMs, begin + 650 * kMs});
}

TEST_CASE("a horizontal wheel, or one with Alt, moves") {
  Shown shown(two_rows());
  const uint64_t begin = test::kTracesBegin;
  shown.view->show_range({begin + 400 * kMs, begin + 600 * kMs});
  const auto turn = [&](QPoint by, Qt::KeyboardModifiers modifiers) {
    const QPoint where = shown.at(0.5);
    QWheelEvent event(where, shown.view->viewport()->mapToGlobal(where), {}, by, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(shown.view->viewport(), &event);
  };
  turn({-120, 0}, {});
  CHECK(shown.view->shown() == TimeRange{begin + 420 * kMs, begin + 620 * kMs});
  turn({0, 120}, Qt::AltModifier);
  CHECK(shown.view->shown() == TimeRange{begin + 400 * kMs, begin + 600 * kMs});
}

TEST_CASE("the height of rows is changed by wheel and keys, and undone; times are of the rows in sight") {
  Shown shown(test::traced_database(std::vector<size_t>(40, 30), 5), {900, 400});
  QScrollBar& bar = *shown.view->verticalScrollBar();
  const auto title = [&] {
    shown.settle();
    for (const QLabel* const label : shown.page.findChildren<QLabel*>())
      if (label->text().startsWith("Shown: ")) return label->text().section(" in ", 1);
    return QString();
  };
  CHECK(title() == "40 rows");
  QTest::keyClick(shown.view, Qt::Key_Plus);
  const TimeRange zoomed = shown.view->shown();
  CHECK(bar.maximum() == 0);
  for (int i = 0; i < 20; ++i) QTest::keyClick(shown.view, Qt::Key_Plus, Qt::ControlModifier);
  CHECK(shown.view->shown() == zoomed);
  REQUIRE(bar.maximum() > 0);
  size_t in_sight = 0;
  for (size_t row = 0; row < shown.view->rows().size(); ++row) in_sight += shown.view->is_in_sight(row);
  CHECK(in_sight < 10);
  CHECK(title() == QString("%1 rows").arg(in_sight));
  const std::map<QString, QString> above = shown.times();
  bar.setValue(bar.maximum());
  CHECK(title().endsWith(" rows"));
  CHECK(shown.times() != above);
  QTest::keyClick(shown.view, Qt::Key_Backspace);  // one gesture
  CHECK(bar.maximum() == 0);
  CHECK(shown.view->shown() == zoomed);
  QTest::keyClick(shown.view, Qt::Key_Backspace);
  CHECK(shown.view->shown() == shown.view->whole());
  CHECK(title() == "40 rows");
}

TEST_CASE("the thread of a moment that is not among the chosen ones is reported") {
  Shown shown(two_rows());
  shown.document.choose_threads({0});
  const uint64_t begin = test::kTracesBegin;
  const TimeRange range{begin + 100 * kMs, begin + 200 * kMs};
  shown.document.ask_for_moment({range, 1, begin + 150 * kMs});
  const auto* const note = shown.page.findChild<QLabel*>("note");
  CHECK(note->text() == "0.1 second is not among the selected threads; Ctrl+Shift+T selects all");
  CHECK(shown.view->selected() == range);
  shown.document.choose_all_threads();
  shown.document.ask_for_moment({range, 1, begin + 150 * kMs});
  CHECK(note->text().isEmpty());
  REQUIRE(shown.view->cursor());
  CHECK(shown.view->rows()[shown.view->cursor()->row].profile == 1);
}

TEST_CASE("indexing is cancelled, and begun again") {
  const test::DatabaseFolder folder(test::traced_database(std::vector<size_t>(40, 40'000), 9));
  Document document(folder.path());
  TimelinePage page(document);
  page.resize(900, 400);
  page.show();
  auto* const button = page.findChild<QToolButton*>("cancel");
  auto* const note = page.findChild<QLabel*>("note");
  REQUIRE(document.traces().is_building());
  button->click();
  REQUIRE(QTest::qWaitFor([&] { return !document.traces().is_building(); }, 20'000));
  REQUIRE(!document.traces().index());
  CHECK(note->text() == "not indexed: canceled");
  CHECK(button->isVisible());
  CHECK(button->text() == "Index");
  const QAbstractItemModel& times = *page.findChild<QTreeView*>("times")->model();
  CHECK(times.rowCount() == 0);
  button->click();
  CHECK(button->text() == "Cancel");
  REQUIRE(QTest::qWaitFor([&] { return page.is_complete(); }, 20'000));
  CHECK(document.traces().index());
  CHECK(times.rowCount() > 0);
  CHECK(button->isHidden());
  CHECK(note->text().isEmpty());
}

TEST_CASE("rare frames are seen among busy time, in high rows and in low ones") {
  // `main` all the time, except for a millionth of it.
  Database database = two_rows();
  const uint64_t begin = test::kTracesBegin;
  const auto rare = GENERATE(uint64_t{1'000}, uint64_t{100'000});
  database.traces[0] = test::trace_of(
      {{begin, 1}, {begin + 400 * kMs, 2}, {begin + 400 * kMs + rare, 1}, {begin + 1000 * kMs, 1}});
  const auto rows = GENERATE(size_t{1}, size_t{120}, size_t{700});
  while (database.profiles.size() < rows) {
    database.profiles.push_back(database.profiles[0]);
    database.profiles.back().id.thread = static_cast<int>(database.profiles.size());
    database.traces.push_back(test::trace_of({{begin, 1}, {begin + 1000 * kMs, 1}}));
  }
  CAPTURE(rare, rows);
  Shown shown(database);
  shown.document.choose_all_threads();
  shown.settle();
  const QImage image = shown.picture();
  const QRect area = shown.view->picture_area();
  int seen = 0;
  for (int y = area.top(); y <= area.bottom(); ++y)
    for (int x = area.left(); x <= area.right(); ++x) seen += image.pixel(x, y) == colour_of_function("work");
  CHECK(seen >= (rows > 600 ? 0 : 1));  // a line of pixels shows one of its rows there
  CHECK(seen <= 8);
}

TEST_CASE("frames of low rows take turns by their time") {
  // Every 100 us `work` runs for 25 us.
  Database database = two_rows();
  const uint64_t begin = test::kTracesBegin;
  std::vector<TraceRecord> records;
  for (uint64_t i = 0; i < 10'000; ++i) {
    records.push_back({begin + i * 100'000, 1});
    records.push_back({begin + i * 100'000 + 75'000, 2});
  }
  records.push_back({begin + 1000 * kMs, 1});
  database.traces.assign(150, test::trace_of(records));
  while (database.profiles.size() < 150) {
    database.profiles.push_back(database.profiles[0]);
    database.profiles.back().id.thread = static_cast<int>(database.profiles.size());
  }
  Shown shown(database);
  shown.page.findChild<QComboBox*>("order")->setCurrentIndex(3);  // threads: no groups of several
  shown.settle();
  REQUIRE(shown.view->rows().size() == 150);
  const QImage image = shown.picture();
  const double first = 1.0 / shown.view->picture_area().height();
  CHECK(shown.share_of(image, QColor(colour_of_function("work")), first) == Approx(0.25).margin(0.01));
  CHECK(shown.share_of(image, QColor(colour_of_function("main")), first) == Approx(0.75).margin(0.01));
}

TEST_CASE("a click shows the call stack of its instant, and a click there colours by its depth") {
  Shown shown(two_rows());
  const QPoint where(shown.at(0.75).x(), shown.view->picture_area().top() + 10);
  QTest::mouseClick(shown.view->viewport(), Qt::LeftButton, {}, where);
  auto* const stack = shown.page.findChild<QTreeView*>("stack");
  const QAbstractItemModel& frames = *stack->model();
  REQUIRE(frames.rowCount() == 3);
  CHECK(frames.index(0, 0).data() == "main thread");
  CHECK(frames.index(1, 0).data() == "main");
  CHECK(frames.index(2, 0).data() == "work");
  QSignalSpy asked(&shown.document, &Document::function_asked);
  QSignalSpy page(&shown.document, &Document::page_asked);
  emit stack->activated(frames.index(2, 0));
  CHECK(asked.size() == 1);
  REQUIRE(page.size() == 1);
  CHECK(page[0][0] == "source");
  emit stack->clicked(frames.index(1, 0));
  CHECK(shown.document.depth() == 1u);
  // The whole stack is a table while it has the keyboard focus.
  stack->setFocus();
  REQUIRE(QTest::qWaitForWindowActive(&shown.page));
  CHECK(shown.page.table() == stack);
  stack->selectAll();
  CHECK(text_of_selection(*stack) == "Call stack\nmain thread\nmain\nwork\n");
}

TEST_CASE("rows are those of the chosen threads, and named as reports name them") {
  Shown shown(two_rows());
  REQUIRE(shown.view->rows().size() == 2);
  CHECK(shown.view->rows()[0].label == "0.0 first");
  auto* const filter = shown.page.findChild<QLineEdit*>("filter");
  filter->setText("*.1 *");
  REQUIRE(shown.view->rows().size() == 1);
  CHECK(shown.view->rows()[0].label == "0.1 second");
  filter->setText("first, second");
  CHECK(shown.view->rows().size() == 2);
  filter->clear();
  shown.document.choose_threads({0});
  REQUIRE(shown.view->rows().size() == 1);
  CHECK(shown.view->rows()[0].profile == 0);
}

TEST_CASE("a run without traces says how to get them") {
  Database database = two_rows();
  database.traces.clear();
  Shown shown(database);
  CHECK(shown.page.reason_empty().contains("--trace"));
  CHECK(shown.page.findChild<QLabel*>("note")->text() == shown.page.reason_empty());
}

TEST_CASE("many rows and a random trace are painted at any size, without and with other orders") {
  Shown shown(test::traced_database(std::vector<size_t>(700, 20), 3), {640, 400});
  shown.picture();
  for (const int order : {1, 2, 3, 4, 0}) {
    shown.page.findChild<QComboBox*>("order")->setCurrentIndex(order);
    size_t rows = 0;
    for (const TimelineRow& row : shown.view->rows()) rows += row.rows.size();
    CHECK(rows == 700);
    shown.picture();
  }
  for (int i = 0; i < 12; ++i)
    shown.wheel(shown.at(0.5), 2, i % 2 == 0 ? Qt::ControlModifier : Qt::NoModifier);
  QTest::keyClick(shown.view, Qt::Key_PageDown);
  shown.picture();
}

TEST_CASE("the selected time is chosen for all pages by a key, and all of it again") {
  Shown shown(two_rows());
  shown.view->setFocus();
  REQUIRE(QTest::qWaitForWindowActive(&shown.page));
  QTest::keyClick(shown.view, Qt::Key_T);
  CHECK(!shown.document.chosen_time());  // all of it is shown
  CHECK(!shown.page.findChild<QToolButton*>("choose")->isEnabled());
  const uint64_t begin = test::kTracesBegin;
  shown.view->select(TimeRange{begin + 600 * kMs, begin + 1000 * kMs});
  CHECK(shown.page.findChild<QToolButton*>("choose")->isEnabled());
  const QImage before = shown.picture();
  QTest::keyClick(shown.view, Qt::Key_T);
  REQUIRE(shown.document.chosen_time() == TimeRange{begin + 600 * kMs, begin + 1000 * kMs});
  CHECK(!shown.view->selected());
  // `work` for 300 ms in one thread, and for 10 us in the other
  CHECK(shown.document.tree().totals[0] == Approx(0.30001));
  shown.settle();
  const QImage veiled = shown.picture();
  const QPoint outside = shown.at(0.3, 0.1), inside = shown.at(0.8, 0.1);
  CHECK(veiled.pixelColor(outside) != before.pixelColor(outside));
  CHECK(veiled.pixelColor(inside) == QColor(colour_of_function("work")));
  CHECK(shown.times()["main"] == "600 ms");  // the timeline itself uses the time that it shows
  QTest::keyClick(shown.view, Qt::Key_T, Qt::ShiftModifier);
  CHECK(!shown.document.chosen_time());

  shown.view->show_range({begin + 100 * kMs, begin + 200 * kMs});
  shown.page.findChild<QToolButton*>("choose")->click();
  CHECK(shown.document.chosen_time() == TimeRange{begin + 100 * kMs, begin + 200 * kMs});
}
