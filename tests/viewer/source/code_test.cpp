// The instructions next to the source, for a function of this test program.

#include <link.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QSettings>
#include <QTest>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"
#include "viewer/source/source_page.h"
#include "viewer/tables/table_text.h"

using namespace prof;
using namespace prof::viewer;

namespace {

volatile unsigned long input = 3;

unsigned long lines_of_shown_function[2];

}  // namespace

extern "C" [[gnu::noinline, gnu::used]] unsigned long shown_function(unsigned long n) {
  lines_of_shown_function[0] = __LINE__ + 2;
  unsigned long sum = 0;
  for (unsigned long i = 0; i < n; ++i) sum += i * input;
  lines_of_shown_function[1] = __LINE__ + 1;
  return sum ^ input;
}

namespace {

uint64_t offset_of_shown_function() {
  uint64_t bias = 0;  // of the program, which is the first module
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return reinterpret_cast<uint64_t>(&shown_function) - bias;
}

// 10 s in total: shown_function() spends 6 in its loop and 1 after it; main spends 3.
Database code_sample() {
  shown_function(3);
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0, "main");
  builder.function("main", "sum.cpp", "sum", 1);
  builder.function("shown_function", "code_test.cpp", "sum", 1);
  const auto first = static_cast<uint32_t>(lines_of_shown_function[0]);
  const auto second = static_cast<uint32_t>(lines_of_shown_function[1]);
  builder.spend(0, {{"main", 3}}, 3);
  builder.spend(0, {{"main", 5}, {"shown_function", first}}, 6);
  builder.spend(0, {{"main", 5}, {"shown_function", second}}, 1);
  Database database = builder.build();
  for (SourceFile& file : database.files)
    if (file.path.ends_with("code_test.cpp")) file.path = __FILE__;
  for (LoadModule& module : database.modules) module.path = std::filesystem::read_symlink("/proc/self/exe");
  for (Function& function : database.functions)
    if (function.name == "shown_function") function.offset = offset_of_shown_function();
  return database;
}

// Adds costs at the first instruction of each of the two lines.
void add_costs(Database& database) {
  const Disassembly code = disassemble({}, database, {0, offset_of_shown_function()}, Syntax::Att);
  REQUIRE(code.failure.empty());
  double seconds[] = {6, 1};
  for (const CodeRow& row : code.rows)
    for (int i = 0; i < 2; ++i)
      if (row.line == lines_of_shown_function[i] && seconds[i] > 0)
        database.instructions.push_back({0, row.offset, 0, std::exchange(seconds[i], 0)});
  REQUIRE(database.instructions.size() == 2);
}

struct ShownCode {
  explicit ShownCode(bool is_other_build = false) {
    QSettings().clear();
    Database database = code_sample();
    REQUIRE(database.modules.size() == 1);
    add_costs(database);
    if (is_other_build) database.modules[0].build_id = "0123456789abcdef";
    folder.emplace(database);
    document.emplace(folder->path());
    page.emplace(*document);
    page->resize(1200, 600);
    page->show();
    tester = std::make_unique<QAbstractItemModelTester>(
        code().table()->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    document->ask_for_function("shown_function");
    wait();
  }
  void wait() {
    REQUIRE(QTest::qWaitFor([this] { return page->is_complete(); }, 20'000));
  }
  CodeView& code() { return page->code(); }
  // Exists as long as the page.
  std::unique_ptr<QAbstractItemModelTester> tester;
  const CodeModel& model() { return page->code().model(); }
  const CodeRow& current() {
    return model().code().rows[static_cast<size_t>(code().table()->currentIndex().row())];
  }
  void key(Qt::Key key) { QTest::keyClick(code().table(), key); }

  std::optional<test::DatabaseFolder> folder;
  std::optional<Document> document;
  std::optional<SourcePage> page;
};

}  // namespace

TEST_CASE("a function's instructions stand beside its line, with what each costs") {
  ShownCode shown;
  CHECK(shown.page->view().current_line() == lines_of_shown_function[0]);
  REQUIRE(shown.model().rowCount() > 5);
  CHECK(shown.model().code().function == "shown_function");
  CHECK(shown.model().code().rows.front().offset == offset_of_shown_function());
  const int row = shown.code().table()->currentIndex().row();  // the most expensive one
  CHECK(shown.model().cost(row) == 6);
  CHECK(shown.model().index(row, CodeModel::Value).data().toString() == "6.00 s  60 %");
  CHECK(shown.model().index(row, CodeModel::Line).data().toString() ==
        QString("code_test.cpp:%1").arg(lines_of_shown_function[0]));
  double sum = 0;
  for (int i = 0; i < shown.model().rowCount(); ++i) sum += shown.model().cost(i);
  CHECK(sum == 7);
  CHECK(shown.page->findChild<QLabel*>("note")->text().contains("without a build ID"));
}

TEST_CASE("the chosen line's instructions are marked, and the line of the chosen instruction is chosen") {
  ShownCode shown;
  shown.page->view().go_to(static_cast<uint32_t>(lines_of_shown_function[1]));
  size_t marked = 0;
  for (int row = 0; row < shown.model().rowCount(); ++row) {
    const bool is_of_line =
        shown.model().code().rows[static_cast<size_t>(row)].line == lines_of_shown_function[1];
    CHECK(shown.model().is_marked(row) == is_of_line);
    CHECK(shown.model().index(row, CodeModel::Text).data(Qt::BackgroundRole).isValid() == is_of_line);
    marked += is_of_line;
  }
  CHECK(marked > 0);
  shown.key(Qt::Key_N);
  CHECK(shown.page->view().current_line() == lines_of_shown_function[1]);
  shown.key(Qt::Key_N);
  CHECK(shown.model().cost(shown.code().table()->currentIndex().row()) == 6);
  CHECK(shown.page->view().current_line() == lines_of_shown_function[0]);
  shown.key(Qt::Key_P);
  CHECK(shown.page->view().current_line() == lines_of_shown_function[1]);
}

TEST_CASE("keys follow jumps and lead back; both syntaxes and bytes are there") {
  ShownCode shown;
  uint32_t jump = 0;
  while (jump < shown.model().code().rows.size() && shown.model().code().rows[jump].target_row == kNone)
    ++jump;
  REQUIRE(jump < shown.model().code().rows.size());
  shown.code().table()->setCurrentIndex(shown.model().index(static_cast<int>(jump), 0));
  const uint64_t from = shown.current().offset, to = shown.current().target.value();
  shown.key(Qt::Key_J);
  CHECK(shown.current().offset == to);
  shown.key(Qt::Key_Backspace);
  CHECK(shown.current().offset == from);

  const auto has_percent = [](const CodeRow& row) { return row.text.find('%') != std::string::npos; };
  CHECK(std::ranges::any_of(shown.model().code().rows, has_percent));
  const size_t rows = shown.model().code().rows.size();
  shown.page->findChild<QComboBox*>("syntax")->setCurrentText("Intel");
  shown.wait();
  CHECK(shown.model().code().rows.size() == rows);
  CHECK(shown.current().offset == from);
  CHECK(std::ranges::none_of(shown.model().code().rows, has_percent));
  CHECK(shown.code().table()->isColumnHidden(CodeModel::Bytes));
  shown.page->findChild<QCheckBox*>("bytes")->click();
  CHECK_FALSE(shown.code().table()->isColumnHidden(CodeModel::Bytes));
}

TEST_CASE("instructions are copied as text and exported with exact values") {
  ShownCode shown;
  REQUIRE(shown.page->table() == shown.code().table());
  const QStringList lines = text_of_selection(*shown.page->table()).split('\n');
  CHECK(lines[0] == "CPUTIME excl\taddress\tbytes\tjumps\tinstruction\tline");
  CHECK(lines[1].startsWith("6.00 s  60 %\t" + QString::number(shown.current().offset, 16) + "\t"));
  const auto file = shown.folder->path() / "code.csv";
  write_csv(*shown.page->table()->model(), file);
  std::ifstream in(file);
  std::ostringstream all;
  all << in.rdbuf();
  CHECK(QString::fromStdString(all.str()).count("\r\n") == shown.model().rowCount() + 1);
}

TEST_CASE("of another build one line says why there are no instructions; I hides them") {
  ShownCode shown(true);
  CHECK(shown.model().rowCount() == 0);
  CHECK(shown.page->findChild<QLabel*>("note")->text().contains(
      "has changed since the run (different build ID)"));
  CHECK_FALSE(shown.code().table()->isVisible());
  CHECK(shown.page->view().current_line() == lines_of_shown_function[0]);
  QTest::keyClick(&shown.page->view(), Qt::Key_I);
  CHECK_FALSE(shown.code().isVisible());
  QTest::keyClick(&shown.page->view(), Qt::Key_I);
  CHECK(shown.code().isVisible());
}
