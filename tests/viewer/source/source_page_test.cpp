#include "viewer/source/source_page.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextLayout>
#include <QTreeView>
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/analysis/database/databases.h"
#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"
#include "viewer/source/source_file.h"
#include "viewer/tables/table_text.h"

using namespace prof;
using namespace prof::viewer;

namespace {

// 10 s in total: line 3 spends 6. Line 5 spends 1, and calls code in another file that spends 3.
Database sample(const std::string& folder) {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0, "main");
  builder.function("main", "sum.cpp", "sum", 1);
  builder.function("leaf", "leaf.cpp", "sum", 1);
  builder.spend(0, {{"main", 3}}, 6);
  builder.spend(0, {{"main", 5}}, 1);
  builder.spend(0, {{"main", 5}, {"leaf", 7}}, 3);
  Database database = builder.build();
  for (SourceFile& file : database.files)
    file.path = folder + "/" + file.path.substr(file.path.rfind('/') + 1);
  return database;
}

struct Shown {
  Shown() {
    std::ofstream(sources.filePath("sum.cpp").toStdString())
        << "int main() {\n  // adds\n  add();\n\n  call();\n}\n";
    folder.emplace(sample(sources.path().toStdString()));
    document.emplace(folder->path());
    page.emplace(*document);
    page->resize(1000, 500);
  }
  QString path() { return page->findChild<QLabel*>("path")->text(); }

  QTemporaryDir sources;
  std::optional<test::DatabaseFolder> folder;
  std::optional<Document> document;
  std::optional<SourcePage> page;
};

}  // namespace

TEST_CASE("the file that costs most is shown at its hottest line, and keys go on") {
  Shown shown;
  shown.page->show();
  CHECK(shown.path().endsWith("/sum.cpp"));
  CHECK(shown.page->view().current_line() == 3);
  QTest::keyClick(&shown.page->view(), Qt::Key_N);
  CHECK(shown.page->view().current_line() == 5);
  QTest::keyClick(&shown.page->view(), Qt::Key_P);
  CHECK(shown.page->view().current_line() == 3);
  CHECK(shown.page->view().tip_of(3).contains("self: 6 s, 60 %"));
  CHECK(shown.page->view().tip_of(5).contains("self: 1 s, 10 %"));
  CHECK(shown.page->view().tip_of(5).contains("with callees: 4 s, 40 %"));
  CHECK(shown.page->view().tip_of(4).isEmpty());
}

TEST_CASE("the page opens on a file whose text is there, though more is spent in one without") {
  QTemporaryDir sources;
  std::ofstream(sources.filePath("sum.cpp").toStdString()) << "int main() {\n  call();\n}\n";
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0, "main");
  builder.function("main", "sum.cpp", "sum", 1);
  builder.function("memcpy", "memcpy.S", "/usr/lib/libc.so.6", 1);
  builder.spend(0, {{"main", 2}}, 1);
  builder.spend(0, {{"main", 2}, {"memcpy", 7}}, 9);
  Database database = builder.build();
  for (SourceFile& file : database.files)
    file.path = sources.filePath(QString::fromStdString(file.path).section('/', -1)).toStdString();
  const test::DatabaseFolder folder(database);
  Document document(folder.path());
  SourcePage page(document);
  page.show();
  CHECK(page.findChild<QLabel*>("path")->text().endsWith("/sum.cpp"));
  CHECK(page.view().toPlainText().startsWith("int main()"));
}

TEST_CASE("where most is spent without lines, that is reported, and no file is chosen") {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0, "main");
  builder.function("main", "sum.cpp", "sum", 1);
  builder.function("decode", "", "/nowhere/libdecode.so");
  builder.spend(0, {{"main", 3}}, 1);
  builder.spend(0, {{"main", 5}, {"decode"}}, 9);
  const test::DatabaseFolder folder(builder.build());
  Document document(folder.path());
  SourcePage page(document);
  page.resize(1000, 500);
  page.show();
  CHECK(page.findChild<QLabel*>("path")->text() == "no source line is known for decode");
  auto* const files = page.findChild<QTreeView*>("files");
  CHECK(page.table() == files);
  CHECK(!files->currentIndex().isValid());
  CHECK(QTest::qWaitFor([&] { return page.is_complete(); }, 10'000));
}

TEST_CASE("any page can ask for a line") {
  Shown shown;
  QSignalSpy spy(&*shown.document, &Document::page_asked);
  uint32_t file = 0;
  while (!QString::fromStdString(shown.document->database().files[file].path).endsWith("sum.cpp")) ++file;
  shown.document->ask_for_source(file, 5);
  REQUIRE(spy.size() == 1);
  CHECK(spy[0][0].toString() == "source");
  shown.page->show();
  CHECK(shown.page->view().current_line() == 5);
}

TEST_CASE("files are listed by cost; of one that is missing it is reported where it was searched") {
  Shown shown;
  shown.page->show();
  const QAbstractItemModel& files = *shown.page->table()->model();
  REQUIRE(files.rowCount() == 2);
  CHECK(files.index(0, 0).data().toString() == "sum.cpp");
  CHECK(files.index(0, 1).data().toString() == "7.00 s  70 %");
  CHECK(files.index(1, 0).data().toString() == "leaf.cpp");
  emit shown.page->table()->activated(files.index(1, 0));
  CHECK(shown.path() == "no source file at " + shown.sources.filePath("leaf.cpp"));
  CHECK(shown.page->view().toPlainText().isEmpty());
}

TEST_CASE("the lines of the text that has the keys are a table, with text and exact costs") {
  Shown shown;
  shown.page->show();
  shown.page->view().setFocus();
  const QAbstractItemModel& lines = *shown.page->table()->model();
  const QAbstractItemModelTester tester(shown.page->table()->model(),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  REQUIRE(lines.rowCount() == 6);
  CHECK(lines.headerData(1, Qt::Horizontal).toString() == "CPUTIME with callees");
  CHECK(lines.headerData(2, Qt::Horizontal).toString() == "CPUTIME self");
  CHECK(lines.index(4, 0).data(kExactRole).toInt() == 5);
  CHECK(lines.index(4, 1).data(kExactRole).toDouble() == Approx(4));
  CHECK(lines.index(4, 2).data(kExactRole).toDouble() == Approx(1));
  CHECK(lines.index(4, 3).data().toString() == "  call();");
  CHECK(lines.index(3, 2).data(kExactRole).toDouble() == 0);
  auto* const files = shown.page->findChild<QTreeView*>("files");
  files->setFocus();
  CHECK(shown.page->table() == files);
}

TEST_CASE("the line of the cursor is copied with what it costs") {
  Shown shown;
  shown.page->show();
  shown.page->activateWindow();
  REQUIRE(QTest::qWaitForWindowActive(&*shown.page));
  shown.page->view().setFocus();
  CHECK(shown.page->chosen_text().toStdString() ==
        shown.sources.filePath("sum.cpp").toStdString() +
            ":3\n  add();\nCPUTIME of line 3\nself: 6 s, 60 %\nwith callees: 6 s, 60 %\n");
}

TEST_CASE("a click beside the text goes to its line, and costs of any size have room there") {
  Shown shown;
  shown.page->show();
  SourceView& view = shown.page->view();
  const int usual = view.margin_width();
  int y = 0;
  while (view.line_at(y) != 5) REQUIRE(++y < 500);
  QTest::mouseClick(view.childAt(5, y + 2), Qt::LeftButton, {}, {5, y + 2});
  CHECK(view.current_line() == 5);

  test::DatabaseBuilder builder;
  builder.metric("INSTRUCTIONS", "");
  builder.thread(0, "main");
  builder.function("main", "sum.cpp", "sum", 1);
  builder.spend(0, {{"main", 3}}, 12'345'678'901);
  Database database = builder.build();
  for (SourceFile& file : database.files) file.path = shown.sources.filePath("sum.cpp").toStdString();
  const test::DatabaseFolder folder(database);
  Document document(folder.path());
  SourcePage page(document);
  page.resize(1000, 500);
  page.show();
  const int wide = page.view().fontMetrics().horizontalAdvance("12,345,678,901  100 %");
  CHECK(page.view().margin_width() > 2 * wide);
  CHECK(page.view().margin_width() > usual);
}

TEST_CASE("where nothing was measured that is reported, of the whole run and of a part of it") {
  test::DatabaseBuilder builder;
  builder.thread(0, "main");
  const test::DatabaseFolder nothing(builder.build());
  Document empty(nothing.path());
  SourcePage without(empty);
  without.show();
  CHECK(without.findChild<QLabel*>("path")->text().toStdString() ==
        "nothing was measured: all metrics are zero");

  Database database = sample("/nowhere");
  database.traces = {test::trace_of({{1'000'000'000, 1}, {2'000'000'000, kNone}, {3'000'000'000, kNone}})};
  const test::DatabaseFolder folder(database);
  Document document(folder.path());
  SourcePage page(document);
  page.show();
  REQUIRE(page.table()->model()->rowCount() == 2);
  CHECK(page.reason_empty().isEmpty());
  document.choose_time(TimeRange{2'500'000'000, 2'600'000'000});
  REQUIRE(QTest::qWaitFor([&] { return !document.is_time_awaited(); }, 20'000));
  CHECK(page.table()->model()->rowCount() == 0);
  CHECK(page.reason_empty().toStdString() == "nothing was measured for the selected threads and time");
}

TEST_CASE("the database's copy of a file comes before the file at its path") {
  const QTemporaryDir folder;
  const std::filesystem::path database = folder.path().toStdString();
  std::filesystem::create_directories(database / "src/home/me");
  std::ofstream(database / "src/home/me/a.c") << "copy";
  CHECK(read_source(database, {"/home/me/a.c", true}).text == "copy");
  CHECK(read_source(database, {"/home/me/a.c", false}).failure == "no source file at /home/me/a.c");
  CHECK(read_source(database, {"a.c", false}).failure.startsWith("a.c: "));
}

namespace {

// Returns a letter for each coloured letter of a line: k(eyword), c(omment), s(tring), or a space.
QString colours(Language language, const QString& text, int line) {
  QTextDocument document;
  document.setPlainText(text);
  Highlighter highlighter(&document);
  QPalette palette;
  highlighter.use(language, palette);
  // Each is identified by a part that only it has.
  QTextDocument sample;
  sample.setPlainText("if\n// c\n\"s\"");
  Highlighter known(&sample);
  known.use(Language::C, palette);
  QList<QColor> order;
  for (QTextBlock block = sample.begin(); block.isValid(); block = block.next())
    order << block.layout()->formats().value(0).format.foreground().color();
  const QTextBlock block = document.findBlockByNumber(line);
  QString result(block.text().size(), ' ');
  for (const QTextLayout::FormatRange& range : block.layout()->formats())
    for (int i = 0; i < range.length; ++i)
      result[range.start + i] = "kcs"[order.indexOf(range.format.foreground().color())];
  return result;
}

}  // namespace

TEST_CASE("keywords, comments and strings have colours") {
  CHECK(colours(Language::C, "if (x) f(\"a//\"); // if", 0) == "kk       sssss   ccccc");
  CHECK(colours(Language::C, "a /* b\n\nif */ if", 1).isEmpty());
  CHECK(colours(Language::C, "a /* b\n\nif */ if", 2) == "ccccc kk");
  CHECK(colours(Language::C, "1'000 + 2", 0) == "         ");
  CHECK(colours(Language::Python, "'''a\nif'''  if # b", 1) == "sssss  kk ccc");
  CHECK(colours(Language::Fortran, "CALL f('a') ! b", 0) == "kkkk   sss  ccc");
  CHECK(colours(Language::Rust, "fn f<'a>(x: &'a str)", 0) == "kk" + QString(14, ' ') + "kkk ");
  CHECK(colours(Language::None, "if", 0) == "  ");
  CHECK(language_of("/usr/include/c++/12/vector") == Language::C);
  CHECK(language_of("a.F90") == Language::Fortran);
  CHECK(language_of("README") == Language::None);
}

TEST_CASE("text is searched in a file, from hit to hit and round its ends") {
  Shown shown;
  shown.page->show();
  SourceView& view = shown.page->view();
  auto& search = *shown.page->findChild<QLineEdit*>("search");
  auto& found = *shown.page->findChild<QLabel*>("found");
  QTest::keySequence(&view, QKeySequence::Find);
  QTest::keyClicks(&search, "ADD");
  CHECK(found.text() == "2 found");
  const auto go = [&](Qt::KeyboardModifiers modifiers) {
    QTest::keyClick(&search, Qt::Key_Return, modifiers);
  };
  view.go_to(1);
  go({});
  CHECK(view.current_line() == 2);
  CHECK(view.textCursor().selectedText() == "add");
  CHECK(found.text() == "1 of 2");
  go({});
  CHECK(view.current_line() == 3);
  go({});
  CHECK(view.current_line() == 2);
  go(Qt::ShiftModifier);
  CHECK(view.current_line() == 3);
  CHECK(found.text() == "2 of 2");
}

TEST_CASE("a search in a file tells capitals apart, and takes regular expressions, where that is asked for") {
  Shown shown;
  shown.page->show();
  auto& search = *shown.page->findChild<QLineEdit*>("search");
  auto& found = *shown.page->findChild<QLabel*>("found");
  shown.page->findChild<QCheckBox*>("case")->click();
  search.setText("ADD");
  CHECK(found.text() == "none");
  search.setText("\\w+\\(\\);");
  CHECK(found.text() == "none");
  shown.page->findChild<QCheckBox*>("expression")->click();
  CHECK(found.text() == "2 found");
  search.setText("(");
  CHECK(found.text() == "missing closing parenthesis");
  shown.page->findChild<QCheckBox*>("expression")->click();
  CHECK(found.text() == "3 found");
  search.clear();
  CHECK(found.text().isEmpty());
}
