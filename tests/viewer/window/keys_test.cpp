// Actions on the window by keys and menus.

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QHeaderView>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSettings>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>
#include <catch2/catch.hpp>

#include "analysis/database/database.h"
#include "tests/analysis/database/databases.h"
#include "tests/report/contended.h"
#include "tests/report/example.h"
#include "tests/viewer/database_folder.h"
#include "viewer/window/main_window.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

struct Opened {
  explicit Opened(const Database& database) : folder(database) {
    window.show();
    window.open(folder.path());
    REQUIRE(window.document());
    REQUIRE(QTest::qWaitForWindowActive(&window));
  }
  bool is_in_front(const char* id) const { return !window.page(id)->visibleRegion().isEmpty(); }
  void press(Qt::Key key, Qt::KeyboardModifiers with = {}) {
    window.activateWindow();  // a dialog may have been active
    REQUIRE(QTest::qWaitForWindowActive(&window));
    QTest::keyClick(&window, key, with);
  }

  DatabaseFolder folder;
  MainWindow window;
};

// Names the file in the dialog that the next action opens.
void name_file(const QString& path) {
  QTimer::singleShot(100, qApp, [path] {
    auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    REQUIRE(dialog);
    dialog->selectFile(path);
    dialog->findChild<QLineEdit*>("fileNameEdit")->setText(path);
    static_cast<QDialog*>(dialog)->done(QDialog::Accepted);
  });
}

QString content(const QString& path) {
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  return QString::fromUtf8(file.readAll());
}

}  // namespace

TEST_CASE("each page comes to the front by its number") {
  Opened opened(example());
  for (size_t page = 0; page < kPages.size(); ++page) {
    const auto key = static_cast<Qt::Key>(Qt::Key_0 + (page + 1) % 10);
    opened.press(key, page < 10 ? Qt::ControlModifier : Qt::ControlModifier | Qt::ShiftModifier);
    QTest::qWait(1);
    CAPTURE(kPages[page]);
    CHECK(opened.is_in_front(kPages[page].c_str()));
  }
}

TEST_CASE("the help lists every action that has a key, and the pages' own") {
  Opened opened(example());
  opened.press(Qt::Key_F1);
  auto* const help = opened.window.findChild<QDialog*>("help");
  REQUIRE(help);
  CHECK(!help->isModal());
  const QString text = help->findChild<QTextBrowser*>()->toPlainText();
  for (const QAction* const action : opened.window.findChildren<QAction*>()) {
    if (action->shortcut().isEmpty()) continue;
    CAPTURE(action->text().toStdString());
    CHECK(text.contains(action->shortcut().toString(QKeySequence::PortableText)));
  }
  CHECK(text.contains("select the threads of the bar or row"));
  CHECK(text.contains("turn the graph over"));
  help->close();
}

TEST_CASE("chosen rows are copied as text") {
  Opened opened(counting(both_sides));
  opened.window.show_page("contention");
  opened.press(Qt::Key_C, Qt::ControlModifier);
  const QString text = QApplication::clipboard()->text();
  CHECK(text.startsWith("data\tverdict\t"));
  CHECK(text.contains("counters (count.cpp:1)\tfalse sharing\t75 %\t1.50 s"));
}

TEST_CASE("what is copied is what has the keys: text that is selected, rows, frames, lines") {
  Opened opened(example());
  const auto copied = [&](QWidget& widget) {
    widget.setFocus();
    QApplication::clipboard()->setText("before");
    QTest::keyClick(&widget, Qt::Key_C, Qt::ControlModifier);
    return QApplication::clipboard()->text();
  };
  const auto to_front = [&](const char* page) -> QWidget& {
    opened.window.show_page(page);
    QTest::qWait(1);
    return *opened.window.page(page);
  };
  // A text without a selection is copied as a whole.
  auto& summary = *to_front("summary").findChild<QTextBrowser*>();
  REQUIRE(QTest::qWaitFor([&] { return opened.window.page("summary")->is_complete(); }, 10'000));
  CHECK(copied(summary) == summary.toPlainText());
  const QTextCursor word = summary.document()->find(QRegularExpression("[a-z]{4,}"));
  REQUIRE(word.hasSelection());
  summary.setTextCursor(word);
  CHECK(copied(summary) == word.selectedText());

  auto& source = *to_front("source").findChild<QPlainTextEdit*>();
  source.setPlainText("int one;\nint two;\n");
  source.selectAll();
  CHECK(copied(source) == "int one;\nint two;\n");
  auto& files = *opened.window.page("source")->findChild<QTreeView*>("files");
  files.setCurrentIndex(files.model()->index(0, 0));
  CHECK(copied(files).section('\t', 0, 0) == "File");

  to_front("flame-graph");
  CHECK(copied(*opened.window.page("flame-graph")->main_widget()).startsWith("function\t"));

  auto& flat = static_cast<QAbstractItemView&>(*to_front("flat").findChild<QTreeView*>());
  auto& search = *opened.window.page("flat")->findChild<QLineEdit*>("search");
  CHECK(copied(flat).startsWith("Function\tPlace\t"));
  search.setText("searched");
  search.selectAll();
  CHECK(copied(search) == "searched");
}

TEST_CASE("without the keys in a page, the one that came to the front last is copied") {
  Opened opened(counting(both_sides));
  opened.window.show_page("flat");
  opened.window.show_page("contention");
  QTest::qWait(1);
  QApplication::focusWidget()->clearFocus();
  REQUIRE(!QApplication::focusWidget());
  opened.press(Qt::Key_C, Qt::ControlModifier);
  CHECK(QApplication::clipboard()->text().startsWith("data\tverdict\t"));
  // If pages are side by side, "bottom-up" is the first by name.
  auto* const dock = opened.window.findChild<QDockWidget*>("bottom-up");
  opened.window.addDockWidget(Qt::RightDockWidgetArea, dock);
  opened.window.show_page("contention");
  QTest::qWait(1);
  QApplication::focusWidget()->clearFocus();
  REQUIRE(!dock->visibleRegion().isEmpty());
  opened.press(Qt::Key_C, Qt::ControlModifier);
  CHECK(QApplication::clipboard()->text().startsWith("data\tverdict\t"));
}

TEST_CASE("a table is sorted by keys, and one that has an order of its own says so") {
  Opened opened(example());
  opened.window.show_page("flat");
  QTest::qWait(1);
  auto& view = *static_cast<QTreeView*>(opened.window.page("flat")->table());
  const auto choose = [&](const QString& column) {
    bool is_done = false;
    QTimer::singleShot(100, [&] {
      auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      REQUIRE(menu);
      for (QAction* const action : menu->actions())
        if (action->text() == column) {
          action->trigger();
          is_done = true;
        }
      menu->close();
    });
    opened.press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    CHECK(is_done);
  };
  const auto first = [&] { return view.model()->index(0, 0).data().toString(); };
  const auto last = [&] { return view.model()->index(view.model()->rowCount() - 1, 0).data().toString(); };
  choose("Function");
  CHECK(first() < last());
  choose("Function");  // reversed
  CHECK(first() > last());
  choose("CPUTIME excl");
  CHECK(view.header()->sortIndicatorOrder() == Qt::DescendingOrder);
  CHECK(view.model()->headerData(view.header()->sortIndicatorSection(), Qt::Horizontal) == "CPUTIME excl");

  opened.window.show_page("summary");
  QTest::qWait(1);
  opened.press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
  auto* const note = opened.window.findChild<QMessageBox*>("note");
  REQUIRE(note);
  CHECK(note->text() == "The table on the page Summary cannot be sorted.");
  note->close();
}

TEST_CASE("a page that has no table to export says so, and pictures need an ending that is one") {
  Opened opened(example());
  opened.window.show_page("summary");
  QTest::qWait(1);
  opened.press(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
  auto* const note = opened.window.findChild<QMessageBox*>("note");
  REQUIRE(note);
  CHECK(note->text() == "The page Summary has no table to export; Ctrl+Shift+P exports its picture.");
  note->close();

  const TemporaryDirectory folder;
  const auto path = [&](const char* name) { return QString::fromStdString((folder.path() / name).string()); };
  name_file(path("page"));
  opened.press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(!QImage(path("page.png")).isNull());
  name_file(path("page.svg"));
  opened.press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(content(path("page.svg")).contains("<svg"));
  name_file(path("page.tiff"));
  opened.press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  auto* const failure = opened.window.findChild<QMessageBox*>("failure");
  REQUIRE(failure);
  CHECK(failure->text().endsWith("page.tiff: expected a file name that ends in .png or .svg"));
  failure->close();
  CHECK(!QFile::exists(path("page.tiff")));
}

TEST_CASE("letters after Alt mean one thing on each page and in the menus") {
  Opened opened(example());
  QStringList of_window;
  for (const QAction* const menu : opened.window.menuBar()->actions())
    of_window << QKeySequence::mnemonic(menu->text()).toString();
  for (const std::string& id : kPages) {
    QStringList all = of_window;
    const Page* const page = opened.window.page(QString::fromStdString(id));
    for (const auto* const button : page->findChildren<QAbstractButton*>())
      all << QKeySequence::mnemonic(button->text()).toString();
    for (const auto* const label : page->findChildren<QLabel*>())
      if (label->buddy()) all << QKeySequence::mnemonic(label->text()).toString();
    all.removeAll(QString());
    CAPTURE(id, all.join(' ').toStdString());
    CHECK(all.removeDuplicates() == 0);
  }
}

TEST_CASE("a table is exported as CSV with exact values, a page as a picture") {
  Opened opened(counting(both_sides));
  opened.window.show_page("contention");
  const TemporaryDirectory folder;
  const QString csv = QString::fromStdString((folder.path() / "table.csv").string());
  name_file(csv);
  opened.press(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
  const QStringList lines = content(csv).split("\r\n", Qt::SkipEmptyParts);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].toStdString() == "depth,data,verdict,of CPU time,cost,seen,code");
  CHECK(lines[1].startsWith("0,counters (count.cpp:1),false sharing,0.75,1.5,"));
  CHECK(lines[2].startsWith("1,"));

  const QString png = QString::fromStdString((folder.path() / "page.png").string());
  name_file(png);
  opened.press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  const QSize shown = opened.window.page("contention")->size(), drawn = QImage(png).size();
  CHECK(drawn.width() == shown.width());
  CHECK(drawn.height() > shown.height());  // a line describes what it shows
}

TEST_CASE("a link of the summary shows the row that has the evidence") {
  Opened opened(counting(both_sides));
  QTextBrowser* const text = opened.window.page("summary")->findChild<QTextBrowser*>();
  REQUIRE(QTest::qWaitFor([&] { return text->toHtml().contains("finding:contention"); }, 10'000));
  QString html = text->toHtml();
  html = html.mid(html.indexOf("finding:contention"));
  emit text->anchorClicked(QUrl(html.left(html.indexOf('"')).replace("&amp;", "&")));
  QTest::qWait(1);
  CHECK(opened.is_in_front("contention"));
  CHECK(opened.window.page("contention")->table()->currentIndex().isValid());
}

TEST_CASE("a database that was written anew is read anew, with the same page in front") {
  Opened opened(example());
  opened.window.show_page("locks");
  QTest::qWait(1);
  write_database(counting(both_sides), opened.folder.path());
  opened.press(Qt::Key_F5);
  REQUIRE(opened.window.document());
  CHECK(opened.window.document()->run().command == "./count");
  QTest::qWait(1);
  CHECK(opened.is_in_front("locks"));
}

TEST_CASE("databases opened last and the arrangement of pages are remembered") {
  QString path;
  {
    Opened opened(example());
    path = QString::fromStdString(opened.folder.path().string());
    opened.window.findChild<QDockWidget*>("locks")->close();
    opened.window.close();
  }
  CHECK(QSettings().value("recent").toStringList().value(0) == path);
  Opened again(example());
  CHECK(again.window.findChild<QDockWidget*>("locks")->isHidden());
  CHECK(!again.window.findChild<QDockWidget*>("contention")->toggleViewAction()->text().isEmpty());
  again.window.show_page("locks");
  CHECK(!again.window.findChild<QDockWidget*>("locks")->isHidden());
}

TEST_CASE("a thread that is chosen on one page is chosen in the tool bar") {
  Opened opened(example());
  const auto* const button = opened.window.findChild<QToolButton*>("threads");
  CHECK(button->text() == "All 2 threads");
  opened.window.document()->choose_threads({1});
  CHECK(button->text() == "1 of 2 threads");
  opened.press(Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(button->text() == "All 2 threads");
}

TEST_CASE("the time in front of the timeline is chosen for all pages, and shown beside the threads") {
  Database database = example();
  std::vector<TraceRecord> records;
  for (uint32_t c = 0; c < database.contexts.size(); ++c)
    records.push_back({1'000'000'000 + c * uint64_t{500'000'000}, c});
  database.traces.assign(database.profiles.size(), {});
  database.traces[0] = trace_of(records);
  Opened opened(database);
  Document& document = *opened.window.document();
  auto& chip = *opened.window.findChild<QLabel*>("chosen_time");
  CHECK(chip.text() == "Whole run");
  opened.press(Qt::Key_I, Qt::ControlModifier);  // the whole run is shown
  CHECK(opened.is_in_front("timeline"));
  CHECK(!document.chosen_time());
  document.show_time(TimeRange{1'500'000'000, 2'000'000'000});
  opened.press(Qt::Key_I, Qt::ControlModifier);
  REQUIRE(document.chosen_time() == TimeRange{1'500'000'000, 2'000'000'000});
  REQUIRE(QTest::qWaitFor([&] { return !document.is_time_awaited(); }, 20'000));  // for the index
  CHECK(chip.text().toStdString() == "0.500 s to 1.000 s (500 ms)");
  CHECK(opened.window.findChild<QComboBox*>("metric")->currentText() == "TRACED_TIME");
  for (const char* const page : {"contention", "locks", "idleness", "stalls"}) {
    CAPTURE(page);
    opened.window.show_page(page);
    QTest::qWait(1);
    const auto* const limit = opened.window.page(page)->findChild<QLabel*>("limit");
    CHECK(limit->text().contains("of the whole run", Qt::CaseInsensitive));
  }
  opened.window.show_page("summary");
  QTest::qWait(1);
  CHECK(opened.window.page("summary")->findChild<QTextBrowser*>()->toPlainText().contains(
      "the functions below the selected time, 0.500 s to 1.000 s (500 ms)"));
  // Every page shows it, and the whole run again.
  for (const std::string& page : kPages) {
    opened.window.show_page(QString::fromStdString(page));
    QTest::qWait(1);
    opened.window.page(QString::fromStdString(page))->grab();
  }
  opened.window.findChild<QToolButton*>("all_time")->click();
  CHECK(!document.chosen_time());
  CHECK(chip.text() == "Whole run");
  CHECK(opened.window.page("stalls")->findChild<QLabel*>("limit")->isHidden());
  document.choose_time(TimeRange{1'500'000'000, 2'000'000'000});
  opened.press(Qt::Key_I, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(!document.chosen_time());
}
