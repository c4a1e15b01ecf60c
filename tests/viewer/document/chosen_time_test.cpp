// A part of the run's time, as all pages show it.

#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <map>

#include "analysis/views/tree/selection.h"
#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/document/document.h"
#include "viewer/document/timed_database.h"
#include "viewer/document/traces.h"
#include "viewer/trace/index_builder.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr double kNsPerSecond = 1e9;

// Times by context, computed from each record: of the context itself, and with its callees.
struct ByRecords {
  ByRecords(const Database& database, uint32_t profile, TimeRange range) {
    for (const test::Segment& segment : test::segments_of(database.traces[profile])) {
      const uint64_t begin = std::max(segment.begin_ns, range.begin_ns);
      const uint64_t end = std::min(segment.end_ns, range.end_ns);
      if (begin >= end || segment.context == kNone) continue;
      point[segment.context] += end - begin;
      for (uint32_t at = segment.context; at != kNone; at = database.contexts[at].parent)
        inclusive[at] += end - begin;
    }
  }
  std::map<uint32_t, uint64_t> point, inclusive;
};

TimeRange part(const MappedTraces& traces, double from, double to) {
  const auto ns = static_cast<double>(traces.end_ns() - traces.begin_ns());
  return {traces.begin_ns() + static_cast<uint64_t>(from * ns),
          traces.begin_ns() + static_cast<uint64_t>(to * ns)};
}

struct Opened {
  explicit Opened(const Database& database) : folder(database), document(folder.path()) {}
  void choose(TimeRange range) {
    document.choose_time(range);
    REQUIRE(QTest::qWaitFor([this] { return !document.is_time_awaited(); }, 20'000));
  }
  test::DatabaseFolder folder;
  Document document;
};

Database traced() {
  Database database = test::traced_database({5000, 0, 700, 20'000}, 3);
  database.metrics.push_back({"FAULTS", "", ""});
  database.summaries.clear();
  std::erase_if(database.profiles[0].values, [](const ProfileValue& value) { return value.context == 0; });
  database.profiles[0].values.insert(database.profiles[0].values.begin(),
                                     {{0, 0, {0, 10, 0}}, {0, 1, {1, 1, 1}}});
  return database;
}

}  // namespace

TEST_CASE("a part of the time has exactly the records in it, of every thread and context") {
  const test::DatabaseFolder folder(traced());
  const Database whole = read_database(folder.path());
  const auto traces = std::make_shared<const MappedTraces>(whole);
  BuildProgress progress;
  const auto index = build_index(traces, 2, progress);
  for (const auto& [from, to] : {std::pair{0.0, 1.0}, {0.2, 0.7}, {0.5, 0.5001}, {0.9, 1.0}}) {
    const TimeRange range = part(*traces, from, to);
    const Database timed = timed_database(whole, *index, range);
    REQUIRE(timed.profiles.size() == whole.profiles.size());
    REQUIRE(timed.contexts == whole.contexts);
    for (uint32_t p = 0; p < whole.profiles.size(); ++p) {
      CHECK(timed.profiles[p].id == whole.profiles[p].id);
      const ByRecords expected(whole, p, range);
      REQUIRE(timed.profiles[p].values.size() == expected.inclusive.size());
      auto at = expected.inclusive.begin();
      for (const ProfileValue& value : timed.profiles[p].values) {
        CHECK(value.context == at->first);
        CHECK(value.metric == 0);
        CHECK(std::llround(value.values.inclusive * kNsPerSecond) == static_cast<int64_t>(at->second));
        const auto own = expected.point.find(value.context);
        const uint64_t point = own == expected.point.end() ? 0 : own->second;
        CHECK(std::llround(value.values.point * kNsPerSecond) == static_cast<int64_t>(point));
        CHECK(value.values.exclusive >= value.values.point);
        ++at;
      }
    }
  }
}

TEST_CASE("device queues have a metric of their own") {
  Database database = traced();
  database.profiles[2].id.device = 0;
  database.profiles[2].id.queue = 1;
  Opened opened(database);
  opened.choose(part(opened.document.traces().mapped(), 0.0, 1.0));
  const CallTree& tree = opened.document.tree();
  REQUIRE(tree.metrics() == 2);
  CHECK(tree.metric(0).name == kTracedTime);
  CHECK(tree.metric(1).name == kTracedDeviceTime);
  for (const ProfileValue& value : tree.database->profiles[2].values) CHECK(value.metric == 1);
}

TEST_CASE("the tree is of the chosen time, and then of the whole run again") {
  Opened opened(traced());
  Document& document = opened.document;
  const auto measured = document.shared_tree();
  REQUIRE(measured->metrics() > 1);
  document.choose_metric(1);
  QSignalSpy before(&document, &Document::tree_will_change), after(&document, &Document::tree_changed);
  const TimeRange range = part(document.traces().mapped(), 0.1, 0.4);
  opened.choose(range);
  CHECK(document.chosen_time() == range);
  CHECK(before.count() == 1);
  CHECK(after.count() == 1);
  REQUIRE(document.tree().metrics() == 1);
  CHECK(document.metric() == 0);
  CHECK(&document.measured_tree() == measured.get());
  uint64_t all = 0;
  for (uint32_t p = 0; p < document.database().profiles.size(); ++p)
    for (const auto& [context, ns] : ByRecords(document.database(), p, range).point) all += ns;
  CHECK(document.tree().totals[0] == Approx(static_cast<double>(all) / kNsPerSecond));

  document.choose_threads({2});
  uint64_t of_one = 0;
  for (const auto& [context, ns] : ByRecords(document.database(), 2, range).point) of_one += ns;
  CHECK(document.tree().totals[0] == Approx(static_cast<double>(of_one) / kNsPerSecond));
  CHECK(document.measured_tree().selection.profiles == std::vector<uint32_t>{2});

  document.choose_all_threads();
  document.choose_time({});
  CHECK(!document.chosen_time());
  CHECK(document.tree().totals == measured->totals);
  CHECK(document.metric() == 1);
}

TEST_CASE("a time is in words from where traces begin") {
  Opened opened(traced());
  CHECK(opened.document.format_chosen_time().isEmpty());
  const uint64_t begin = opened.document.traces().mapped().begin_ns();
  opened.choose({begin + 1'500'000'000, begin + 2'250'000'000});
  CHECK(opened.document.format_chosen_time().toStdString() == "1.500 s to 2.250 s (750 ms)");
  opened.choose({begin + 1'000, begin + 3'500});
  CHECK(opened.document.format_chosen_time().toStdString() == "0.00000100 s to 0.00000350 s (2.5 us)");
}

TEST_CASE("a time that is chosen before the traces are indexed is taken when they are, or given up") {
  const test::DatabaseFolder folder(test::traced_database({1'500'000}, 5));
  SECTION("indexed") {
    Document document(folder.path());
    document.choose_time(part(document.traces().mapped(), 0.2, 0.3));
    CHECK(document.is_time_awaited());
    CHECK(&document.tree() == &document.measured_tree());
    REQUIRE(QTest::qWaitFor([&] { return !document.is_time_awaited(); }, 20'000));
    CHECK(document.tree().metric(0).name == kTracedTime);
  }
  SECTION("cancelled") {
    Document document(folder.path());
    QSignalSpy given_up(&document, &Document::time_not_chosen);
    document.choose_time(part(document.traces().mapped(), 0.2, 0.3));
    document.traces().cancel();
    REQUIRE(QTest::qWaitFor([&] { return !given_up.empty() || !document.is_time_awaited(); }, 20'000));
    CHECK(given_up.count() == 1);
    CHECK(!document.chosen_time());
    CHECK(&document.tree() == &document.measured_tree());
  }
}

TEST_CASE("where there are no traces, no time is chosen") {
  Database database = traced();
  database.traces.clear();
  Opened opened(database);
  opened.document.choose_time(TimeRange{1, 2});
  CHECK(!opened.document.chosen_time());
}
