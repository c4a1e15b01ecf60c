// Opening the measurements of a run: they are analyzed first.

#include <QLabel>
#include <QProcess>
#include <QTest>
#include <catch2/catch.hpp>

#include "tests/analysis/database/files.h"
#include "viewer/window/main_window.h"

using namespace prof;
using namespace prof::viewer;

TEST_CASE("measurements are analyzed and shown") {
  const QString prof = QString::fromStdString(prof_command().string());
  REQUIRE(!prof.isEmpty());
  const test::TemporaryDirectory folder;
  const std::filesystem::path measurements = folder.path() / "measured";
  REQUIRE(QProcess::execute(
              prof, {"run", "-q", "-o", QString::fromStdString(measurements.string()), "/bin/true"}) == 0);
  std::filesystem::remove_all(measurements / "database");
  MainWindow window;
  window.show();
  window.open(measurements);
  REQUIRE(QTest::qWaitFor([&] { return window.document() != nullptr; }, 30'000));
  CHECK(window.document()->run().command == "/bin/true");
  CHECK(window.document()->directory() == measurements / "database");
}

TEST_CASE("a folder without measurements is reported by name, and the window stays") {
  const test::TemporaryDirectory folder;
  MainWindow window;
  window.show();
  window.open(folder.path());
  const auto* const failure = window.findChild<QLabel*>("failure");
  REQUIRE(QTest::qWaitFor([&] { return failure->isVisible(); }, 30'000));
  CAPTURE(failure->text().toStdString());
  CHECK(failure->text().contains(QString::fromStdString(folder.path().filename().string())));
  CHECK(!window.document());
  CHECK(window.isVisible());
}
