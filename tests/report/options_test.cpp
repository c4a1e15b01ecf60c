#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include "prof/base/message.h"
#include "tests/report/example.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

ReportOptions report_options(const std::string& line) {
  CLI::App app;
  ReportOptions options;
  add_report_options(app, options);
  app.parse(line);
  return options;
}

}  // namespace

TEST_CASE("every option of prof report reaches its field") {
  const ReportOptions options = report_options(
      "--view=bottom-up --format=csv --thread=0,1.* --thread main --metric=cycles --threshold=2.5 "
      "--merge-recursion "
      "--depth=4 --statistics --stall-factor=4 --stall-share=25 --barriers=meet,*::join prof-sum");
  CHECK(options.database == "prof-sum");
  CHECK(options.view == ReportView::BottomUp);
  CHECK(options.format == ReportFormat::Csv);
  CHECK(options.stall_factor == 4);
  CHECK(options.stall_share_percent == 25);
  CHECK(options.barriers == std::vector<std::string>{"meet", "*::join"});
  CHECK(options.threads == std::vector<std::string>{"0", "1.*", "main"});
  CHECK(options.metrics == std::vector<std::string>{"cycles"});
  CHECK(options.threshold_percent == 2.5);
  CHECK(options.depth == 4);
  CHECK(options.merge_recursion);
  CHECK(options.statistics);
}

TEST_CASE("without options prof report prints a text summary with a threshold of one percent") {
  const ReportOptions options = report_options("database");
  CHECK(options.view == ReportView::Summary);
  CHECK(options.format == ReportFormat::Text);
  CHECK(options.threshold_percent == 1);
  CHECK(options.depth == 0);
}

TEST_CASE("a view, format or share that does not exist is refused") {
  CHECK_THROWS_AS(report_options("--view=sideways database"), CLI::ValidationError);
  CHECK_THROWS_AS(report_options("--format=xml database"), CLI::ValidationError);
  CHECK_THROWS_AS(report_options("--threshold=101 database"), CLI::ValidationError);
  CHECK_THROWS_AS(report_options("--depth=0 database"), CLI::ValidationError);
  CHECK_THROWS_AS(report_options(""), CLI::RequiredError);
}

TEST_CASE("a number out of its range is refused in plain words") {
  for (const std::string bad :
       {"--threshold=nan", "--threshold=-1", "--depth=0", "--depth=-1", "--depth=many"}) {
    INFO(bad);
    std::string what;
    try {
      report_options(bad + " database");
    } catch (const CLI::ValidationError& error) {
      what = error.what();
    }
    CHECK(what.find("is not a number from ") != std::string::npos);
    CHECK(what.size() < 80);
  }
}

TEST_CASE("an unknown metric or thread prints nothing and is an exit status") {
  ReportOptions options;
  options.metrics = {"cycles"};
  const Rendered metric = rendered(example(), options);
  CHECK(metric.status == kOwnFailure);
  CHECK(metric.text.empty());
  options.metrics.clear();
  options.threads = {"9"};
  CHECK(rendered(example(), options).status == kOwnFailure);
}

TEST_CASE("a report that cannot be written is an exit status") {
  std::FILE* full = std::fopen("/dev/full", "w");
  REQUIRE(full);
  CHECK(report(example(), {}, full, false) == kOwnFailure);
  std::fclose(full);
}
