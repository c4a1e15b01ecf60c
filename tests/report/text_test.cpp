#include <catch2/catch.hpp>

#include "analysis/views/wording.h"
#include "prof/report/text.h"
#include "tests/report/example.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

std::string text_of(const Database& database, ReportView view, std::optional<uint32_t> columns = {},
                    bool statistics = false) {
  ReportOptions options;
  options.view = view;
  options.columns = columns;
  options.statistics = statistics;
  return rendered(database, options).text;
}

}  // namespace

TEST_CASE("the golden text of each table view is what is printed") {
  CHECK(text_of(example(), ReportView::TopDown) == golden("top-down.txt"));
  CHECK(text_of(example(), ReportView::BottomUp) == golden("bottom-up.txt"));
  CHECK(text_of(example(), ReportView::Flat) == golden("flat.txt"));
  CHECK(text_of(example(), ReportView::Flat, {}, true) == golden("flat-statistics.txt"));
}

TEST_CASE("a narrow terminal shortens names and never places") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.function(std::string(200, 'n'), "somewhere.cpp", "/bin/x");
  b.spend(b.thread(0), {{std::string(200, 'n'), 77}}, 1);
  const std::vector<std::string> lines = lines_of(text_of(b.build(), ReportView::TopDown, 90));
  REQUIRE(lines.size() == 4);
  CHECK(columns_of(lines[3]) == 90);
  CHECK(lines[3].find("...") != std::string::npos);
  CHECK(lines[3].ends_with("  somewhere.cpp:77"));
}

TEST_CASE("without a terminal names stay whole") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{std::string(200, 'n'), 77}}, 1);
  CHECK(text_of(b.build(), ReportView::TopDown).find(std::string(200, 'n')) != std::string::npos);
}

TEST_CASE("control characters in names do not reach the terminal") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{"evil\033[2Jname", 1}}, 1);
  const Database database = b.build();
  for (const ReportView view :
       {ReportView::Summary, ReportView::TopDown, ReportView::BottomUp, ReportView::Flat})
    CHECK(text_of(database, view).find('\033') == std::string::npos);
}

TEST_CASE("more metrics than fit a line are named") {
  DatabaseBuilder b;
  for (const char* name : {"CPUTIME", "REALTIME", "cycles"}) b.metric(name, name[0] == 'c' ? "" : "sec");
  const uint32_t t = b.thread(0);
  for (uint32_t metric = 0; metric < 3; ++metric) b.spend(t, {{"f", 1}}, 3, metric);
  const std::string text = text_of(b.build(), ReportView::Flat);
  CHECK(text.find("also measured: cycles (choose with --metric)\n") != std::string::npos);
  CHECK(text.find("REALTIME excl.") != std::string::npos);
}

TEST_CASE("a table of nothing says why it is empty") {
  CHECK(text_of(Database{}, ReportView::TopDown).find("No samples.\n") != std::string::npos);
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
