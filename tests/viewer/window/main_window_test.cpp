#include "viewer/window/main_window.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <catch2/catch.hpp>

#include "tests/analysis/database/databases.h"
#include "tests/viewer/database_folder.h"
#include "viewer/window/application.h"

using namespace prof;
using namespace prof::viewer;

TEST_CASE("a database is opened, shown and closed") {
  const test::DatabaseFolder folder(test::known_database());
  MainWindow window;
  window.open(folder.path());
  REQUIRE(window.document());
  for (const std::string& id : kPages) {
    const Page* const page = window.page(QString::fromStdString(id));
    REQUIRE(page);
    CHECK(page->id().toStdString() == id);
  }
  window.close_document();
  CHECK(!window.document());
}

TEST_CASE("what is no database is reported by name, and the window stays") {
  const test::TemporaryDirectory empty;
  const test::DatabaseFolder folder(test::known_database());
  std::filesystem::resize_file(folder.path() / "profile.db", 100);
  MainWindow window;
  window.show();
  for (const auto& path : {folder.path(), empty.path() / "nowhere"}) {
    window.open(path);
    CHECK(!window.document());
    const auto* const failure = window.findChild<QLabel*>("failure");
    REQUIRE(failure);
    CHECK(failure->isVisible());
    CHECK(failure->text().contains(QString::fromStdString(path.filename().string())));
  }
  CHECK(window.isVisible());
}

TEST_CASE("a database that is dropped on the window is opened") {
  const test::DatabaseFolder folder(test::known_database());
  MainWindow window;
  window.show();
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(QString::fromStdString(folder.path().string()))});
  QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &files, Qt::LeftButton, {});
  QApplication::sendEvent(&window, &enter);
  CHECK(enter.isAccepted());
  QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &files, Qt::LeftButton, {});
  QApplication::sendEvent(&window, &drop);
  CHECK(drop.isAccepted());  // the sender of the drop is notified that it arrived
  REQUIRE(window.document());
  CHECK(window.document()->directory() == folder.path());
}

TEST_CASE("the window paints while a database is read, and names it") {
  const test::DatabaseFolder folder(test::known_database());
  MainWindow window;
  window.show();
  const auto* const opening = window.findChild<QLabel*>("opening");
  REQUIRE(opening);
  bool was_shown = false;
  QTimer::singleShot(0, &window, [&] {
    was_shown = opening->isVisible() && opening->text().contains("database") && !window.document();
    window.open("/nowhere");  // as a drop would request meanwhile
  });
  window.open(folder.path());
  CHECK(was_shown);
  REQUIRE(window.document());
  CHECK(window.document()->directory() == folder.path());
  CHECK_FALSE(opening->isVisible());
}

TEST_CASE("a window that is closed while a database is read shows nothing more") {
  const test::DatabaseFolder folder(test::known_database());
  MainWindow window;
  window.show();
  QTimer::singleShot(0, &window, [&] { window.close(); });
  window.open(folder.path());
  CHECK_FALSE(window.document());
}

TEST_CASE("a database that cannot be opened leaves the one that is open") {
  const test::DatabaseFolder folder(test::known_database());
  MainWindow window;
  window.show();
  window.open(folder.path());
  const Document* const before = window.document();
  window.open("/nowhere");
  CHECK(window.document() == before);
  auto* const box = window.findChild<QMessageBox*>("failure");
  REQUIRE(box);
  CHECK(box->text().contains("/nowhere"));
  box->close();
}

TEST_CASE("a database that is damaged while it is shown is reported once, and the window stays") {
  const test::DatabaseFolder folder(test::random_database(4, {80, 3, 2, 10}));
  MainWindow window;
  window.show();
  window.open(folder.path());
  REQUIRE(window.document());
  auto* const application = static_cast<Application*>(qApp);
  application->tell_failures_to([&](const QString& why) { window.tell_failure(why); });
  std::filesystem::resize_file(folder.path() / "profile.db", 64);
  QTimer::singleShot(0, &window, [&] { window.document()->choose_threads({0}); });
  QTimer::singleShot(0, &window, [&] { window.document()->choose_threads({0}); });
  REQUIRE(QTest::qWaitFor([&] { return window.findChild<QMessageBox*>("failure") != nullptr; }, 20'000));
  QTest::qWait(50);
  REQUIRE(window.findChildren<QMessageBox*>("failure").size() == 1);
  auto* const box = window.findChild<QMessageBox*>("failure");
  CHECK(box->text().contains("profile.db"));
  CHECK(window.isVisible());
  CHECK(window.page("flat")->table()->model()->rowCount() > 0);
  box->close();
  application->tell_failures_to({});
}
