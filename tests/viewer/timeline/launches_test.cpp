#include "viewer/timeline/launches.h"

#include <QCheckBox>
#include <QTest>
#include <catch2/catch.hpp>
#include <random>

#include "tests/analysis/database/databases.h"
#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/timeline/timeline_page.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr uint64_t kLaunchMs = 1'000'000;
constexpr uint64_t kFirstLaunch = test::kTracesBegin;
const std::atomic<bool> kNotCancelled{false};

LaunchSource source_of(std::vector<DeviceLaunch> launches) {
  return [launches = std::move(launches), is_done = false](std::vector<DeviceLaunch>& block) mutable {
    block = is_done ? std::vector<DeviceLaunch>() : launches;
    return is_done = !is_done;
  };
}

// A thread that submits a task at 100 ms and one at 500 ms, and the queue that runs them 200 ms later for 50
// ms each.
Database device_run() {
  Database database = test::random_database(1, {3, 2, 1, 0});
  database.profiles[0].id = {"node", 0, 1, 0, "main", -1, -1};
  database.profiles[1].id = {"node", 0, 1, -1, "queue", 0, 0};
  database.traces = {test::trace_of({{kFirstLaunch, 1}, {kFirstLaunch + 1000 * kLaunchMs, 1}}),
                     test::trace_of({{kFirstLaunch, kNone},
                                     {kFirstLaunch + 300 * kLaunchMs, 2},
                                     {kFirstLaunch + 350 * kLaunchMs, kNone},
                                     {kFirstLaunch + 700 * kLaunchMs, 2},
                                     {kFirstLaunch + 750 * kLaunchMs, kNone},
                                     {kFirstLaunch + 1000 * kLaunchMs, 1}})};
  database.task_names = {"kernel"};
  database.launches = source_of({{0, 1, 0, kFirstLaunch + 100 * kLaunchMs, kFirstLaunch + 300 * kLaunchMs,
                                  kFirstLaunch + 350 * kLaunchMs, 0},
                                 {0, 1, 0, kFirstLaunch + 500 * kLaunchMs, kFirstLaunch + 700 * kLaunchMs,
                                  kFirstLaunch + 750 * kLaunchMs, 0}});
  return database;
}

class ShownLaunches {
 public:
  explicit ShownLaunches(const Database& database)
      : folder_(database), document(folder_.path()), page(document) {
    page.resize(1200, 500);
    page.show();
    REQUIRE(QTest::qWaitFor([this] { return page.is_complete(); }, 20'000));
    view = page.findChild<TimelineView*>();
    REQUIRE(view);
  }
  QPoint at(uint64_t ms, int row) const {
    const QRect area = view->picture_area();
    return {area.left() + static_cast<int>(static_cast<double>(ms) / 1000 * area.width()),
            area.top() + 44 * row + 22};
  }

 private:
  test::DatabaseFolder folder_;

 public:
  Document document;
  TimelinePage page;
  TimelineView* view = nullptr;
};

}  // namespace

TEST_CASE("tasks are found by where they ran, and by where they were submitted") {
  std::mt19937 random(4);
  std::vector<DeviceLaunch> launches;
  for (int i = 0; i < 300; ++i) {
    const uint64_t submit = random() % 10'000, start = submit + random() % 500;
    launches.push_back({0, 5 + static_cast<uint32_t>(random() % 2),
                        random() % 5 == 0 ? kNone : static_cast<uint32_t>(random() % 3), submit, start,
                        start + random() % 300, 0});
  }
  const LaunchTable table(source_of(launches), kNotCancelled);
  const std::vector<bool> profiles{true, false, true, false, false, true, true};
  for (int i = 0; i < 200; ++i) {
    const uint64_t begin = random() % 10'000;
    const TimeRange range{begin, begin + 1 + random() % 500};
    const auto count = [&](const auto& takes) {
      return static_cast<size_t>(std::count_if(launches.begin(), launches.end(), takes));
    };
    const size_t ran = count([&](const DeviceLaunch& one) {
      return one.queue == 5 && one.start_ns < range.end_ns && one.end_ns > range.begin_ns;
    });
    CHECK(table.run_by(5, range, SIZE_MAX).size() == ran);
    const size_t submitted = count([&](const DeviceLaunch& one) {
      return one.thread == 2 && one.submit_ns >= range.begin_ns && one.submit_ns < range.end_ns;
    });
    CHECK(table.submitted_by(2, range, SIZE_MAX).size() == submitted);
    const size_t ways = count([&](const DeviceLaunch& one) {
      return one.thread != kNone && one.thread != 1 && one.submit_ns < range.end_ns &&
             one.start_ns >= range.begin_ns;
    });
    CHECK(table.all_in(range, profiles, SIZE_MAX).size() == ways);
    CHECK(table.all_in(range, profiles, ways).size() == ways);
    if (ways > 0) CHECK(table.all_in(range, profiles, ways - 1).empty());
  }
  CHECK(table.run_by(4, {0, UINT64_MAX}, SIZE_MAX).empty());
  const LaunchTable cut(source_of(launches), kNotCancelled, 100);
  CHECK(cut.is_cut());
  CHECK(!table.is_cut());
}

TEST_CASE("arrows lead from a thread to its tasks: all of them where they are few, and those pointed to") {
  ShownLaunches shown(device_run());
  CHECK(shown.view->arrows().others.size() == 2);
  CHECK(shown.view->arrows().chosen.empty());
  const auto chosen = [&](QPoint where) {
    QTest::mouseMove(shown.view->viewport(), where);
    return shown.view->arrows().chosen;
  };
  REQUIRE(chosen(shown.at(320, 1)).size() == 1);
  CHECK(chosen(shown.at(320, 1)).front()->submit_ns == kFirstLaunch + 100 * kLaunchMs);
  REQUIRE(chosen(shown.at(500, 0)).size() == 1);
  CHECK(chosen(shown.at(500, 0)).front()->start_ns == kFirstLaunch + 700 * kLaunchMs);
  CHECK(chosen(shown.at(900, 1)).empty());

  auto* const box = shown.page.findChild<QCheckBox*>("launches");
  CHECK(box->isVisibleTo(&shown.page));
  QTest::mouseMove(shown.view->viewport(), shown.at(900, 1));
  const auto picture = [&] {
    return shown.view->viewport()->grab(QRect(shown.at(120, 0), shown.at(280, 1))).toImage();
  };
  const QImage with = picture();
  box->setChecked(false);
  CHECK(shown.view->arrows().others.empty());
  CHECK(picture() != with);
  box->setChecked(true);
  CHECK(picture() == with);
}

TEST_CASE("G leads from a task to where it was submitted, also out of what is shown, and back") {
  ShownLaunches shown(device_run());
  QTest::mouseClick(shown.view->viewport(), Qt::LeftButton, {}, shown.at(720, 1));
  REQUIRE(shown.view->cursor());
  shown.view->show_range({kFirstLaunch + 600 * kLaunchMs, kFirstLaunch + 800 * kLaunchMs});
  QTest::keyClick(shown.view, Qt::Key_G);
  REQUIRE(shown.view->cursor());
  CHECK(shown.view->cursor()->row == 0);
  CHECK(shown.view->cursor()->time_ns == kFirstLaunch + 500 * kLaunchMs);
  CHECK(shown.view->shown().begin_ns == kFirstLaunch + 400 * kLaunchMs);
  QTest::keyClick(shown.view, Qt::Key_G);
  CHECK(shown.view->cursor()->row == 1);
  CHECK(shown.view->cursor()->time_ns == kFirstLaunch + 700 * kLaunchMs);
}

TEST_CASE("a run without devices has no switch for arrows") {
  ShownLaunches shown(test::traced_database({50, 40}, 2));
  CHECK(!shown.page.findChild<QCheckBox*>("launches")->isVisibleTo(&shown.page));
  CHECK(shown.view->arrows().others.empty());
  QTest::keyClick(shown.view, Qt::Key_G);
}
