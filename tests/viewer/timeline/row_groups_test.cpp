#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QTest>
#include <QTreeView>
#include <catch2/catch.hpp>
#include <numeric>

#include "tests/analysis/database/databases.h"
#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/document/colours.h"
#include "viewer/timeline/row_list.h"
#include "viewer/timeline/timeline_page.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr uint64_t kGroupMs = 1'000'000;

// Two nodes with two ranks each. Each rank has a main thread and another one, and the last rank also a queue.
// Main threads work in context 1 for the whole second, the others for the first half.
Database two_nodes() {
  Database database = test::random_database(1, {3, 9, 1, 0});
  database.traces.clear();
  const uint64_t begin = test::kTracesBegin;
  for (int32_t p = 0; p < 8; ++p) {
    database.profiles[static_cast<size_t>(p)].id = {p < 4 ? "one" : "two",          p / 2, 100 + p / 2, p % 2,
                                                    p % 2 == 0 ? "main" : "worker", -1,    -1};
    const uint64_t busy = p % 2 == 0 ? 1000 : 500;
    std::vector<TraceRecord> records{{begin, 1}, {begin + busy * kGroupMs, kNone}};
    if (busy < 1000) records.push_back({begin + 1000 * kGroupMs, 1});
    database.traces.push_back(test::trace_of(records));
  }
  database.profiles[8].id = {"two", 3, 103, -1, "queue", 0, 0};
  database.traces.push_back(test::trace_of({{begin, kNone}, {begin + 1000 * kGroupMs, 1}}));
  return database;
}

struct Rows {
  test::DatabaseFolder folder{two_nodes()};
  Database database = read_database(folder.path());
  MappedTraces traces{database};
  RowGroups groups;

  QStringList labels(RowOrder order, const QString& filter = {}) const {
    std::vector<uint32_t> profiles(database.profiles.size());
    std::iota(profiles.begin(), profiles.end(), 0u);
    QStringList all;
    for (const TimelineRow& row : timeline_rows(database, traces, profiles, filter, order, groups))
      all << (row.is_group() ? QString("%1 (%2)").arg(row.label).arg(row.rows.size()) : row.label);
    return all;
  }
};

class ShownGroups {
 public:
  ShownGroups() : document(folder_.path()), page(document) {
    page.resize(1200, 800);
    page.show();
    settle();
    view = page.findChild<TimelineView*>();
    REQUIRE(view);
  }
  void settle() {
    REQUIRE(QTest::qWaitFor([this] { return page.is_complete(); }, 20'000));
  }
  void order_by(RowOrder order) {
    page.findChild<QComboBox*>("order")->setCurrentIndex(static_cast<int>(order));
    settle();
  }
  // Returns the middle of a row.
  int y_of(size_t row) const {
    const QRect area = view->picture_area();
    const int height = std::min(area.height() / static_cast<int>(view->rows().size()), 44);
    return area.top() + static_cast<int>(row) * height + height / 2;
  }

 private:
  test::DatabaseFolder folder_{two_nodes()};

 public:
  Document document;
  TimelinePage page;
  TimelineView* view = nullptr;
};

}  // namespace

TEST_CASE("rows are grouped by node, rank, kind and name") {
  const Rows rows;
  CHECK(rows.labels(RowOrder::Node) == QStringList{"one (4)", "0.0 main", "0.1 worker", "1.0 main",
                                                   "1.1 worker", "two (5)", "2.0 main", "2.1 worker",
                                                   "3.0 main", "3.1 worker", "3.device0.queue0 queue"});
  CHECK(rows.labels(RowOrder::Process, "0.*, 3.1*") ==
        QStringList{"rank 0 on one (2)", "0.0 main", "0.1 worker", "3.1 worker"});
  CHECK(rows.labels(RowOrder::Kind, "2.*, 3.*") == QStringList{"main threads (2)", "2.0 main", "3.0 main",
                                                               "other threads (2)", "2.1 worker",
                                                               "3.1 worker", "3.device0.queue0 queue"});
  // A group with one row is shown as that row.
  CHECK(rows.labels(RowOrder::Name, "0.*") == QStringList{"0.0 main", "0.1 worker"});
  CHECK(rows.labels(RowOrder::Thread, "0.*, 1.*") ==
        QStringList{"thread 0 (2)", "0.0 main", "1.0 main", "thread 1 (2)", "0.1 worker", "1.1 worker"});
  CHECK(rows.labels(RowOrder::Node, "0.*") == QStringList{"0.0 main", "0.1 worker"});
}

TEST_CASE("groups of many rows are closed until they are opened") {
  RowGroups groups;
  CHECK(groups.is_open("a", RowGroups::kMaxOpenRows));
  CHECK(!groups.is_open("a", RowGroups::kMaxOpenRows + 1));
  groups.toggle("a");
  CHECK(!groups.is_open("a", 2));
  CHECK(groups.is_open("a", 1000));
  CHECK(groups.is_open("b", 2));
  groups.toggle("a");
  CHECK(groups.is_open("a", 2));
}

TEST_CASE("a group shows the share of its rows in which something ran, and times count each row once") {
  ShownGroups shown;
  shown.order_by(RowOrder::Node);
  REQUIRE(shown.view->rows().size() == 11);
  const auto idle_of = [&] {
    const QAbstractItemModel& model = *shown.page.findChild<QTreeView*>("times")->model();
    for (int row = 0; row < model.rowCount(); ++row)
      if (model.index(row, 0).data().toString() == "(nothing ran)")
        return model.index(row, 1).data().toString();
    return QString();
  };
  CHECK(idle_of().toStdString() == "3.00 s");  // 4 times half a second, and the queue
  const QString open = idle_of();

  // A click on the label closes the group.
  QTest::mouseClick(shown.view->viewport(), Qt::LeftButton, {},
                    {shown.view->labels_area().left() + 20, shown.y_of(0)});
  shown.settle();
  REQUIRE(shown.view->rows().size() == 7);
  CHECK(!shown.view->rows()[0].is_open);
  CHECK(idle_of() == open);

  // All four rows run in the first half, and two in the second: the bar is half as high there.
  const QImage image = shown.view->viewport()->grab().toImage();
  const QRect area = shown.view->picture_area();
  const int top = shown.y_of(0) - 15, bottom = shown.y_of(0) + 15;
  const QColor idle = idle_colour(shown.page.palette());
  const int first = area.left() + area.width() / 4, second = area.left() + area.width() * 3 / 4;
  CHECK(image.pixelColor(first, top) != idle);
  CHECK(image.pixelColor(first, bottom) != idle);
  CHECK(image.pixelColor(second, top) == idle);
  CHECK(image.pixelColor(second, bottom) != idle);
}

TEST_CASE("Space opens and closes the cursor's group, and the cursor stays") {
  ShownGroups shown;
  shown.order_by(RowOrder::Node);
  const uint64_t time = test::kTracesBegin + 700 * kGroupMs;
  shown.view->move_cursor(TimelineView::Cursor{2, time});
  const uint32_t profile = shown.view->rows()[2].profile;
  QTest::keyClick(shown.view, Qt::Key_Space);
  REQUIRE(shown.view->cursor());
  CHECK(shown.view->cursor()->row == 0);
  CHECK(shown.view->cursor()->time_ns == time);
  CHECK(shown.view->row_of(profile) == size_t{0});
  CHECK(shown.page.findChild<QTreeView*>("stack")->model()->rowCount() == 0);
  bool is_shown = false;
  for (const QLabel* label : shown.page.findChildren<QLabel*>())
    is_shown |= label->text() == "one: 2 of 4 rows were active";
  CHECK(is_shown);
  QTest::keyClick(shown.view, Qt::Key_Space);
  CHECK(shown.view->rows().size() == 11);
  CHECK(shown.view->row_of(profile) == size_t{2});
}

TEST_CASE("who asks for a moment sees its thread at that time, in a group that is opened for it") {
  ShownGroups shown;
  shown.order_by(RowOrder::Node);
  shown.view->move_cursor(TimelineView::Cursor{0, test::kTracesBegin});
  QTest::keyClick(shown.view, Qt::Key_Space);
  shown.page.findChild<QLineEdit*>("filter")->setText("2.*, 3.*, 0.*");
  const uint64_t begin = test::kTracesBegin + 400 * kGroupMs;
  const auto is_at = [&](uint32_t profile) {
    REQUIRE(shown.view->cursor());
    CHECK(shown.view->rows()[shown.view->cursor()->row].profile == profile);
    CHECK(shown.view->cursor()->time_ns == begin + 5 * kGroupMs);
    CHECK(shown.view->selected() == TimeRange{begin, begin + 10 * kGroupMs});
    CHECK(shown.view->shown() == TimeRange{begin - 5 * kGroupMs, begin + 15 * kGroupMs});
  };
  shown.document.ask_for_moment({{begin, begin + 10 * kGroupMs}, 1, begin + 5 * kGroupMs});
  is_at(1);
  shown.document.ask_for_moment(
      {{begin, begin + 10 * kGroupMs}, 2, begin + 5 * kGroupMs});  // which the filter hides
  is_at(2);
}
