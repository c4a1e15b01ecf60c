#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "analysis/words/numbers.h"
#include "prof/base/message.h"
#include "prof/report/text.h"
#include "tests/report/example.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

std::string rendered_text_of(const Database& database, ReportView view, std::optional<uint32_t> columns = {},
                             bool statistics = false) {
  ReportOptions options;
  options.view = view;
  options.columns = columns;
  options.statistics = statistics;
  return rendered(database, options).text;
}

}  // namespace

TEST_CASE("the golden text of each table view is what is printed") {
  CHECK(rendered_text_of(example(), ReportView::TopDown) == golden("top-down.txt"));
  CHECK(rendered_text_of(example(), ReportView::BottomUp) == golden("bottom-up.txt"));
  CHECK(rendered_text_of(example(), ReportView::Flat) == golden("flat.txt"));
  CHECK(rendered_text_of(example(), ReportView::Flat, {}, true) == golden("flat-statistics.txt"));
  CHECK(rendered_text_of(example(), ReportView::Lines) == golden("lines.txt"));
}

TEST_CASE("lines come with their text, from the database's copy before the file itself") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("prof-{}", getpid());
  const std::filesystem::path source = folder / "here/work.cpp",
                              copy = folder / "d/src" / source.relative_path();
  std::filesystem::create_directories(source.parent_path());
  std::ofstream(source) << "first\n\t  sum += \033[2J" << std::string(200, 'x') << "; \r\nthird\n";
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"f", 2}}, 2);
  b.spend(t, {{"f", 3}}, 1);
  b.spend(t, {{"f", 4}}, 1);  // a line that the file does not have
  b.database.files[0].path = source;
  const Database database = b.build();
  const auto lines = lines_of(rendered_text_of(database, ReportView::Lines));
  REQUIRE(lines.size() == 5);
  CHECK(lines[2].ends_with("f  sum  sum += \\x1b[2J" + std::string(200, 'x') + ";"));
  CHECK(lines[3].ends_with("f  sum  third"));
  CHECK(lines[4].ends_with("f  sum"));
  for (const uint32_t columns : {80, 100, 120}) {
    CAPTURE(columns);
    const auto fitted = lines_of(rendered_text_of(database, ReportView::Lines, columns));
    CHECK(columns_of(fitted[2]) == columns);
    CHECK(fitted[2].ends_with("..."));
    CHECK(fitted[2].find("work.cpp:2  f  sum  s") != std::string::npos);
  }

  std::filesystem::create_directories(copy.parent_path());
  std::ofstream(copy) << "first\nas it was\n";
  Database copied = database;
  copied.files[0].copied = true;
  ReportOptions options;
  options.view = ReportView::Lines;
  options.database = folder / "d";
  CHECK(rendered(copied, options).text.find("  as it was\n") != std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a text that is cut at its end stays whole characters") {
  CHECK(shorten_end("abcdef", 6) == "abcdef");
  CHECK(shorten_end("abcdefg", 6) == "abc...");
  CHECK(shorten_end("äöüäöü", 5) == "äö...");
  CHECK(shorten_end("abcdefg", 0) == "abcdefg");
}

TEST_CASE("a narrow terminal shortens names and never places") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.function(std::string(200, 'n'), "somewhere.cpp", "/bin/x");
  b.spend(b.thread(0), {{std::string(200, 'n'), 77}}, 1);
  const std::vector<std::string> lines = lines_of(rendered_text_of(b.build(), ReportView::TopDown, 90));
  REQUIRE(lines.size() == 4);
  CHECK(columns_of(lines[3]) == 90);
  CHECK(lines[3].find("...") != std::string::npos);
  CHECK(lines[3].ends_with("  somewhere.cpp:77"));
}

TEST_CASE("without a terminal names stay whole") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{std::string(200, 'n'), 77}}, 1);
  CHECK(rendered_text_of(b.build(), ReportView::TopDown).find(std::string(200, 'n')) != std::string::npos);
}

TEST_CASE(
    "negative costs, as differences of two profiles have, are shown, also where they cancel each other out") {
  DatabaseBuilder b;
  b.metric("samples", "");
  const uint32_t thread = b.thread(0);
  b.spend(thread, {{"outer", 1}, {"faster", 2}}, -8);
  b.spend(thread, {{"outer", 1}, {"slower", 3}}, 8);
  const Database database = b.build();
  for (const ReportView view : {ReportView::TopDown, ReportView::BottomUp, ReportView::Flat}) {
    const std::string text = rendered_text_of(database, view);
    INFO(text);
    CHECK(text.find("-8") != std::string::npos);
    CHECK(text.find("faster") != std::string::npos);
    CHECK(text.find("slower") != std::string::npos);
  }
}

TEST_CASE("control characters in names do not reach the terminal") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{"evil\033[2Jname", 1}}, 1);
  const Database database = b.build();
  for (const ReportView view :
       {ReportView::Summary, ReportView::TopDown, ReportView::BottomUp, ReportView::Flat, ReportView::Lines})
    CHECK(rendered_text_of(database, view).find('\033') == std::string::npos);
}

TEST_CASE("what a terminal would execute or reorder is shown escaped, and other letters as they are") {
  CHECK(printable("a\033[2Jb\x7f") == "a\\x1b[2Jb\\x7f");
  CHECK(printable("\u009b31m") == "\\u009b31m");
  CHECK(printable("\u202egnp.\u2066\u2069\u200f") == "\\u202egnp.\\u2066\\u2069\\u200f");
  CHECK(printable("\x9b\xff\xc3") == "\\x9b\\xff\\xc3");
  CHECK(printable("two\nlines\tand") == "two lines and");
  CHECK(printable("größe → 工 \U0001F642") == "größe → 工 \U0001F642");
  CHECK(printable_lines("two\nlines\033") == "two\nlines\\x1b");
}

TEST_CASE("no view prints the characters of a name that a terminal executes or that reorder text") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{"one\u009b2J\u202etwo", 1}}, 1);
  const Database database = b.build();
  for (const ReportView view : {ReportView::Summary, ReportView::TopDown, ReportView::BottomUp,
                                ReportView::Flat, ReportView::Lines}) {
    const std::string text = rendered_text_of(database, view);
    CHECK(text.find("\u009b") == std::string::npos);
    CHECK(text.find("\u202e") == std::string::npos);
  }
}

TEST_CASE("more metrics than fit a line are named") {
  DatabaseBuilder b;
  for (const char* name : {"CPUTIME", "REALTIME", "cycles"}) b.metric(name, name[0] == 'c' ? "" : "sec");
  const uint32_t t = b.thread(0);
  for (uint32_t metric = 0; metric < 3; ++metric) b.spend(t, {{"f", 1}}, 3, metric);
  const std::string text = rendered_text_of(b.build(), ReportView::Flat);
  CHECK(text.find("also measured: cycles (select with --metric)\n") != std::string::npos);
  CHECK(text.find("REALTIME excl.") != std::string::npos);
}

TEST_CASE("a table of nothing says why it is empty") {
  CHECK(rendered_text_of(Database{}, ReportView::TopDown).find("No samples.\n") != std::string::npos);
  ReportOptions options;
  options.view = ReportView::Flat;
  options.threshold_percent = 99;
  CHECK(rendered(example(), options).text.find("no row reaches the threshold\n") != std::string::npos);
}

TEST_CASE("lines are wrapped at blanks and long words stay whole") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("a incomprehensible b", 5) == std::vector<std::string>{"a", "incomprehensible", "b"});
  CHECK(wrap("one two", 0) == std::vector<std::string>{"one two"});
}
