// Pages show what reports print for the same database.

#include <QAbstractItemView>
#include <QComboBox>
#include <QPlainTextEdit>
#include <QTest>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/database/database.h"
#include "tests/analysis/database/databases.h"
#include "tests/report/database_builder.h"
#include "tests/report/rendered.h"
#include "tests/viewer/database_folder.h"
#include "viewer/flame/flame_page.h"
#include "viewer/source/source_page.h"
#include "viewer/tables/table_text.h"
#include "viewer/timeline/timeline_page.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

nlohmann::json reported(const Database& database, ReportView view) {
  ReportOptions options;
  options.view = view;
  options.format = ReportFormat::Json;
  options.threshold_percent = 0;
  const Rendered result = rendered(database, options);
  REQUIRE(result.status == 0);
  return nlohmann::json::parse(result.text);
}

// Functions of two files that call each other; one of them calls itself.
Database calling() {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.metric("FAULTS", "");
  b.function("main", "main.cpp", "app", 1);
  b.function("work", "work.cpp", "app", 3);
  b.function("leaf", "work.cpp", "app", 9);
  for (int32_t t = 0; t < 3; ++t) {
    const uint32_t thread = b.thread(t, "team");
    b.spend(thread, {{"main", 2}}, 0.5 + t);
    b.spend(thread, {{"main", 3}, {"work", 4}}, 1.25);
    b.spend(thread, {{"main", 3}, {"work", 5}, {"work", 4}}, 0.75);
    b.spend(thread, {{"main", 3}, {"work", 5}, {"leaf", 10}}, 2 + t);
    b.spend(thread, {{"main", 4}, {"leaf", 10}}, 40, 1);
    b.spend(thread, {{"main", 4}, {"leaf", 11}}, 7, 1);
  }
  return b.build();
}

}  // namespace

TEST_CASE("lines of source cost what the report's lines do") {
  const Database database = calling();
  const nlohmann::json report = reported(database, ReportView::Lines);
  const DatabaseFolder folder(database);
  Document document(folder.path());
  SourcePage page(document);
  page.show();
  for (const size_t metric : {size_t{0}, size_t{1}}) {
    document.choose_metric(metric);
    const std::string name = document.tree().metric(metric).name;
    size_t compared = 0;
    for (const nlohmann::json& row : report.at("rows")) {
      if (row.at("file").is_null()) continue;
      uint32_t file = 0;
      while (database.files[file].path != row.at("file")) ++file;
      const auto line = row.at("line").get<uint32_t>();
      page.show_source(file, line);
      const Cost cost = page.view().cost_of(line);
      const nlohmann::json& expected = row.at("values").at(name);
      CAPTURE(name, row.dump());
      CHECK(cost.exclusive == Approx(expected.at("exclusive").get<double>()).margin(1e-12));
      CHECK(cost.inclusive == Approx(expected.at("inclusive").get<double>()).margin(1e-12));
      ++compared;
    }
    CHECK(compared >= 6);
  }
}

TEST_CASE("frames of the flame graph weigh what the report's rows cost, in both directions") {
  const Database database = calling();
  const DatabaseFolder folder(database);
  Document document(folder.path());
  FlamePage page(document);
  page.resize(16'000, 400);
  page.show();
  for (const int direction : {0, 1}) {
    page.findChild<QComboBox*>("direction")->setCurrentIndex(direction);
    const nlohmann::json report =
        reported(database, direction == 0 ? ReportView::TopDown : ReportView::BottomUp);
    for (size_t metric = 0; metric < document.tree().metrics(); ++metric) {
      document.choose_metric(metric);
      const std::string name = document.tree().metric(metric).name;
      // By depth and function. Boxes that are too narrow to be shown alone may be missing.
      std::map<std::pair<size_t, std::string>, double> expected, shown;
      for (const nlohmann::json& row : report.at("rows"))
        expected[{row.at("depth").get<size_t>() + 1, row.at("function")}] +=
            row.at("values").at(name).at(direction == 0 ? "inclusive" : "exclusive").get<double>();
      const auto& levels = page.flames().layout_of_flames().levels;
      for (size_t level = 1; level < levels.size(); ++level)
        for (const FlameBox& box : levels[level])
          if (box.merged == 0)
            shown[{level, frame_name(*document.tree().database,
                                     document.tree().frames[page.flames().rows()->frame(box.row)])}] +=
                box.weight;
      const double total = document.tree().totals[metric];
      REQUIRE(!shown.empty());
      for (const auto& [at, weight] : expected) {
        CAPTURE(direction, name, at.first, at.second);
        CHECK(shown[at] == Approx(weight).margin(total * 0.01));
      }
    }
  }
}

TEST_CASE("times of the timeline are what the report tells of a run of the same time") {
  // The trace of each thread, and as costs the seconds that it spent in each context.
  Database database = calling();
  constexpr uint64_t kBegin = 1'000'000'000, kMs = 1'000'000;
  database.metrics = {{"CPUTIME", "sec", ""}};
  database.traces.clear();
  std::map<std::pair<uint32_t, uint32_t>, double> seconds;
  for (uint32_t p = 0; p < database.profiles.size(); ++p) {
    std::vector<TraceRecord> records;
    uint64_t time = kBegin;
    for (uint32_t c = 0; c < database.contexts.size(); ++c) {
      if (database.contexts[c].kind != ContextKind::Line) continue;
      records.push_back({time, c});
      const uint64_t ns = (1 + c % 7 + p) * kMs;
      seconds[{p, c}] = static_cast<double>(ns) * 1e-9;
      time += ns;
    }
    records.push_back({time, kNone});
    records.push_back({time + kMs, 0});  // the end
    database.traces.push_back(trace_of(records));
    auto& values = database.profiles[p].values;
    values.clear();
    // A context's cost counts for itself and for its callers. A function's exclusive cost is that of its
    // lines.
    std::map<uint32_t, Values> sums;
    for (const auto& [at, spent] : seconds) {
      if (at.first != p) continue;
      sums[at.second].point += spent;
      bool is_own = true;
      for (uint32_t c = at.second; c != kNone; c = database.contexts[c].parent) {
        sums[c].inclusive += spent;
        if (is_own) sums[c].exclusive += spent;
        if (database.contexts[c].kind == ContextKind::Function) is_own = false;
      }
    }
    for (const auto& [context, value] : sums) values.push_back({context, 0, value});
  }
  database.summaries.clear();
  const DatabaseFolder folder(database);
  const Database stored = read_database(folder.path());
  const nlohmann::json report = reported(stored, ReportView::Flat);
  Document document(folder.path());
  TimelinePage page(document);
  page.resize(1000, 600);
  page.show();
  REQUIRE(QTest::qWaitFor([&] { return page.is_complete(); }, 20'000));
  const QAbstractItemModel& times = *page.table()->model();
  std::map<std::string, double> shown;
  for (int row = 0; row < times.rowCount(); ++row)
    shown[times.index(row, 0).data().toString().toStdString()] =
        times.index(row, FunctionTimes::Time).data(kExactRole).toDouble();
  size_t compared = 0;
  for (const nlohmann::json& row : report.at("rows")) {
    const double own = row.at("values").at("CPUTIME").at("exclusive").get<double>();
    if (own == 0) continue;
    CAPTURE(row.at("function").get<std::string>());
    CHECK(shown[row.at("function")] == Approx(own).epsilon(1e-9));
    ++compared;
  }
  CHECK(compared == 3);
  CHECK(shown["(nothing ran)"] > 0);
}
