// Two runs compared in the window.

#include <QAction>
#include <QCheckBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QTest>
#include <QToolButton>
#include <catch2/catch.hpp>

#include "tests/viewer/compare/two_runs.h"
#include "tests/viewer/database_folder.h"
#include "viewer/compare/diff_page.h"
#include "viewer/document/other_run.h"
#include "viewer/window/main_window.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr int kTimeoutMs = 20'000;  // the reading thread needs a processor

struct Opened {
  Opened() : first(test::run_before()), second(test::run_after()) {
    window.open(first.path());
    window.show();
  }
  Document& document() { return *window.document(); }
  bool wait_until_compared() {
    return QTest::qWaitFor([this] { return document().other_run() != nullptr; }, kTimeoutMs);
  }
  template <class Widget>
  Widget& find(const char* name) {
    return *window.findChild<Widget*>(name);
  }

  test::DatabaseFolder first, second;
  MainWindow window;
};

}  // namespace

TEST_CASE("another run is read in the background, and what differs is in front then") {
  Opened opened;
  CHECK(!opened.find<QLabel>("compared").isVisible());
  opened.window.compare_with(opened.second.path());
  CHECK(!opened.document().other_run());
  REQUIRE(opened.wait_until_compared());
  const auto is_shown = [&] { return opened.find<QLabel>("compared").isVisible(); };
  CHECK(QTest::qWaitFor(is_shown, kTimeoutMs));
  CHECK(!opened.window.page("diff")->visibleRegion().isEmpty());
  CHECK(static_cast<DiffPage*>(opened.window.page("diff"))->text().contains("work"));
  opened.find<QToolButton>("end_comparison").click();
  CHECK(!opened.document().other_run());
  CHECK(QTest::qWaitFor([&] { return !is_shown(); }, kTimeoutMs));
}

TEST_CASE("the tool bar scales and swaps the runs") {
  Opened opened;
  opened.window.compare_with(opened.second.path());
  REQUIRE(opened.wait_until_compared());
  opened.find<QCheckBox>("same_total").click();
  CHECK(opened.document().tree().totals[2] == Approx(10));
  opened.find<QToolButton>("swap").click();
  CHECK(opened.document().comparing() == Comparing{true, true});
  CHECK(opened.document().tree().compared->is_second_before);
}

TEST_CASE("what cannot be compared is reported, and the window stays as it is") {
  Opened opened;
  std::filesystem::resize_file(opened.second.path() / "profile.db", 100);
  opened.window.compare_with(opened.second.path());
  const auto failure = [&] { return opened.window.findChild<QMessageBox*>("failure"); };
  REQUIRE(QTest::qWaitFor([&] { return failure() != nullptr; }, kTimeoutMs));
  CHECK(failure()->text().contains("profile.db"));
  CHECK(!opened.document().other_run());
}

TEST_CASE("a database that is dropped with Ctrl held is compared") {
  Opened opened;
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(QString::fromStdString(opened.second.path().string()))});
  QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::ControlModifier);
  QCoreApplication::sendEvent(&opened.window, &enter);
  QDropEvent drop({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::ControlModifier);
  QCoreApplication::sendEvent(&opened.window, &drop);
  REQUIRE(opened.wait_until_compared());
  CHECK(opened.document().directory() == opened.first.path());
}

TEST_CASE("a window that closes while another run is read waits for nothing that is shown") {
  Opened opened;
  opened.window.compare_with(opened.second.path());
  opened.window.close_document();
  CHECK(!opened.window.document());
}

TEST_CASE("the command line compares") {
  const test::DatabaseFolder first(test::run_before()), second(test::run_after());
  viewer::ViewOptions options;
  options.database = first.path().string();
  options.compare = second.path().string();
  options.same_total = true;
  CHECK(first_page(options) == "diff");
  MainWindow window;
  window.open_as_asked(options);
  REQUIRE(QTest::qWaitFor([&] { return window.document()->other_run() != nullptr; }, kTimeoutMs));
  CHECK(window.document()->comparing().same_total);
}
