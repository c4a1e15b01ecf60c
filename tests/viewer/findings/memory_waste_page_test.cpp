// The page of wasted stores and loads has the contents of the report.

#include <QLabel>
#include <QTextBrowser>
#include <catch2/catch.hpp>

#include "analysis/findings/memory_waste.h"
#include "tests/report/wasting.h"
#include "tests/viewer/findings/shown.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

TEST_CASE("wasted accesses are listed with both lines, and the totals above them") {
  const Database database = wasting();
  Shown shown(database, "memory-waste");
  CHECK(
      shown.part<QLabel>("sentences").text().contains("Dead stores: 19 % (17 to 22 %) of sampled bytes written"));
  CHECK(shown.model().rowCount() == 5);
  QModelIndex dead;
  for (int row = 0; row < shown.model().rowCount(); ++row)
    if (shown.model().index(row, 0).data().toString() == "Dead store: quadrant[]")
      dead = shown.model().index(row, 0);
  REQUIRE(dead.isValid());
  CHECK(exact(dead, 1) == Approx(0.15));
  CHECK(exact(dead, 2) == Approx(1200));
  CHECK(exact(dead, 3) == Approx(150));
  CHECK(text(dead, 4) == "slow_sum (sum.cpp:14)");
  REQUIRE(shown.model().rowCount(dead) == 2);
  CHECK(text(shown.model().index(0, 0, dead), 0) == "dead");
  CHECK(text(shown.model().index(1, 0, dead), 0) == "killing");
  CHECK(text(shown.model().index(1, 0, dead), 4) == "fast_sum (sum.cpp:23)");
}

TEST_CASE("the waste of a finding is chosen, with both call paths side by side") {
  const Database database = wasting();
  Shown shown(database, "memory-waste");
  const std::vector<Finding> found =
      memory_waste_findings(shown.document().measured_tree(), shown.document().run());
  for (const Finding& finding : found) {
    shown.document().ask_for_finding("memory-waste", QString::fromStdString(finding.id));
    const QString details = shown.part<QTextBrowser>("details").toPlainText();
    CAPTURE(details.toStdString());
    CHECK(details.contains(QString::fromStdString(finding.sentence)));
    CHECK(details.contains(QString::fromStdString(finding.contexts[0].role)));
    CHECK(details.contains(QString::fromStdString(finding.contexts[1].role)));
  }
}

TEST_CASE("without a search for waste, the page says how to get one") {
  const Database database = example();
  Shown shown(database, "memory-waste");
  CHECK(shown.part<QLabel>("reason_empty").text().contains("prof run -e memory-waste"));
}
