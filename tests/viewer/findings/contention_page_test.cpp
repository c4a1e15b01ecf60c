#include <QLabel>
#include <QSignalSpy>
#include <QTextBrowser>
#include <catch2/catch.hpp>

#include "analysis/findings/contention.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/contended.h"
#include "tests/report/example.h"
#include "tests/viewer/findings/shown.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

TEST_CASE("contended data have the report's words and numbers, and all its sides") {
  const Database database = counting(both_sides);
  Shown shown(database, "contention");
  const nlohmann::json report = reported(database, ReportView::Contention);
  REQUIRE(shown.model().rowCount() == 1);
  const QModelIndex data = shown.model().index(0, 0);
  CHECK(text(data, 0) == "counters (count.cpp:1)");
  CHECK(text(data, 1) == "false sharing");
  CHECK(exact(data, 2) == Approx(report["findings"][0]["cost"]["share_of_run"].get<double>()));
  CHECK(exact(data, 3) == Approx(report["findings"][0]["cost"]["value"].get<double>()));
  const nlohmann::json& sides = report["data"][0]["sides"];
  REQUIRE(shown.model().rowCount(data) == static_cast<int>(sides.size()));
  for (int side = 0; side < shown.model().rowCount(data); ++side) {
    const QModelIndex row = shown.model().index(side, 0, data);
    CHECK(text(row, 1).toStdString() == sides[static_cast<size_t>(side)]["access"]);
    CHECK(exact(row, 3) == Approx(sides[static_cast<size_t>(side)]["weight_s"].get<double>()));
    CHECK(exact(row, 4) == Approx(sides[static_cast<size_t>(side)]["accesses"].get<double>()));
  }
  const QString details = shown.part<QTextBrowser>("details").toPlainText().simplified();
  CHECK(details.contains(QString::fromStdString(report["findings"][0]["sentence"].get<std::string>())));
  CHECK(details.contains("Change: Put each element on its own cache lines."));
}

TEST_CASE("Enter on a side leads to its line") {
  Shown shown(counting(both_sides), "contention");
  QSignalSpy sources(&shown.document(), &Document::source_asked);
  const QModelIndex second = shown.model().index(2, 0, shown.model().index(0, 0));
  shown.page().table()->setCurrentIndex(second);
  QTest::keyClick(shown.page().table(), Qt::Key_Return);
  REQUIRE(sources.count() == 1);
  const uint32_t file = sources[0][0].toUInt();
  CHECK(shown.document().database().files[file].path == "src/count.cpp");
  CHECK(sources[0][1].toUInt() == 10);
}

TEST_CASE("a finding that is asked for is chosen") {
  const Database database = counting(both_sides);
  Shown shown(database, "contention");
  shown.page().table()->setCurrentIndex({});
  shown.document().ask_for_finding("locks", "nothing of this page");
  CHECK(!shown.page().table()->currentIndex().isValid());
  const std::vector<Finding> findings =
      contention_findings(shown.document().measured_tree(), shown.document().run());
  REQUIRE(findings.size() == 1);
  shown.document().ask_for_finding("contention", QString::fromStdString(findings[0].id));
  CHECK(shown.page().table()->currentIndex() == shown.model().index(0, 0));
}

TEST_CASE("a run without contention says how to measure it") {
  Shown shown(example(), "contention");
  const auto& reason = shown.part<QLabel>("reason_empty");
  CHECK(reason.isVisible());
  CHECK(reason.text().contains("prof run -e contention"));
  CHECK(shown.page().reason_empty() == reason.text());
}

TEST_CASE("a run in which nothing was found says so") {
  Database database = counting(both_sides);
  set_run_text(database, R"({"run": {"command": "./count"}, "contention": []})");
  Shown shown(database, "contention");
  CHECK(shown.page().reason_empty().isEmpty());
  CHECK(shown.part<QLabel>("sentences").text().contains("no contention was found"));
}
