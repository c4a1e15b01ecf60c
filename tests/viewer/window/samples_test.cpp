// The steps of a new user: measures a sample, opens it, and clicks the first finding of the summary. Two
// clicks lead to the line that causes the problem.

#include <QCoreApplication>
#include <QProcess>
#include <QScrollBar>
#include <QTest>
#include <QTextBrowser>
#include <catch2/catch.hpp>

#include "tests/analysis/database/files.h"
#include "viewer/source/source_page.h"
#include "viewer/window/main_window.h"
#include "viewer/window/opening.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr int kTimeoutMs = 30'000;  // for a run, and for what is searched in the background

QString sample(const char* name) {
  return QCoreApplication::applicationDirPath() + "/../samples/" + name;
}

struct Measured {
  // Returns false if the sample cannot run here.
  bool run(const QStringList& options, const QString& program, const QStringList& arguments = {}) {
    QProcess process;
    const QString directory = QString::fromStdString((folder.path() / "run").string());
    process.start(
        QString::fromStdString(prof_command().string()),
        QStringList{"run", "-q", "-o", directory} + options + QStringList{"--", program} + arguments);
    return process.waitForFinished(kTimeoutMs) && process.exitCode() == 0;
  }

  void open() {
    window.resize(1280, 800);
    window.show();
    window.open(folder.path() / "run" / "database");
    REQUIRE(window.document());
    REQUIRE(QTest::qWaitForWindowActive(&window));
    REQUIRE(QTest::qWaitFor([&] { return window.page("summary")->is_complete(); }, kTimeoutMs));
    QTest::qWait(1);
  }

  bool is_in_front(const char* id) const { return !window.page(id)->visibleRegion().isEmpty(); }

  // Clicks on the first link after `after` whose text starts with `words`.
  void click(QTextBrowser& text, const QString& words, const QString& after = {}) {
    QTextCursor found(text.document());
    if (!after.isEmpty()) found = text.document()->find(after);
    do {
      found = text.document()->find(words, found);
      CAPTURE(words.toStdString(), text.toPlainText().toStdString());
      REQUIRE(!found.isNull());
    } while (!found.charFormat().isAnchor());
    QTextCursor inside(text.document());
    inside.setPosition(found.selectionStart() + 1);
    text.setTextCursor(inside);
    text.ensureCursorVisible();
    QTest::mouseClick(text.viewport(), Qt::LeftButton, {}, text.cursorRect(inside).center());
    QTest::qWait(1);
  }

  QTextBrowser& text(const char* page) {
    auto* const found = window.page(page)->findChild<QTextBrowser*>();
    REQUIRE(found);
    return *found;
  }

  // Returns the line that the source page shows.
  QString line() {
    REQUIRE(is_in_front("source"));
    const auto* const page = qobject_cast<SourcePage*>(window.page("source"));
    REQUIRE(page);
    auto& view = const_cast<SourcePage*>(page)->view();
    return view.text_of(view.current_line());
  }

  test::TemporaryDirectory folder;
  MainWindow window;
};

}  // namespace

TEST_CASE("the first finding of the demo's program leads to the search by one click") {
  Measured demo;
  REQUIRE(demo.run({}, sample("hot_loop")));
  demo.open();
  demo.click(demo.text("summary"), "hot_loop.cpp:", "Show:");
  const QString line = demo.line();
  CAPTURE(line.toStdString());
  CHECK((line.contains("customers[i].number == number") || line.contains("i < customers.size(); ++i")));
}

TEST_CASE("the first finding of threads that contend leads to the code of both by two clicks") {
  Measured contended;
  REQUIRE(contended.run({"-e", "contention"}, sample("statistics"), {"400"}));
  contended.open();
  contended.click(contended.text("summary"), "Contention", "Show:");
  REQUIRE(contended.is_in_front("contention"));
  contended.click(contended.text("contention"), "statistics.cpp:", "Code:");
  const QString line = contended.line();
  CAPTURE(line.toStdString());
  CHECK((line.contains("own.reads = own.reads + 1") || line.contains("own.hits = own.hits + 1")));
}

TEST_CASE("the first finding of an idle device leads to the allocation by two clicks") {
  if (!QFile::exists(sample("opencl_allocation"))) {
    WARN("skipped: the sample was built without OpenCL");
    return;
  }
  Measured device;
  if (!device.run({"--trace"}, sample("opencl_allocation"))) {
    WARN("skipped: there is no device for OpenCL");
    return;
  }
  device.open();
  device.click(device.text("summary"), "Idleness", "clCreateBuffer");
  REQUIRE(device.is_in_front("idleness"));
  CHECK(
      device.window.page("idleness")->table()->currentIndex().data().toString().startsWith("clCreateBuffer"));
  device.click(device.text("idleness"), "allocation.cpp:");
  const QString line = device.line();
  CAPTURE(line.toStdString());
  CHECK(line.contains("clCreateBuffer("));
}
