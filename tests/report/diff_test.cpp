// The output of `prof diff` as text and JSON, and its exit status.

#include "prof/report/diff_report.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/report/rendered.h"
#include "tests/report/sampled_runs.h"

using namespace prof;
using namespace prof::test;

namespace {

Rendered diffed(const std::vector<Database>& before, const std::vector<Database>& after,
                const DiffOptions& options) {
  MatchedRuns runs;
  match_runs(runs, before, after);
  return rendered([&](std::FILE* out) { return diff(runs, options, out, false); });
}

DiffOptions parsed(std::vector<std::string> words) {
  CLI::App app;
  DiffOptions options;
  add_diff_options(app, options);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return options;
}

// Returns the lines of a text, starting at the given one.
std::vector<std::string> from(const std::string& text, const std::string& line) {
  std::vector<std::string> lines = lines_of(text);
  lines.erase(lines.begin(), std::find(lines.begin(), lines.end(), line));
  return lines;
}

}  // namespace

TEST_CASE("percentages may have their sign") {
  CHECK(parsed({"--threshold=5%"}).threshold_percent == 5);
  CHECK(parsed({"--threshold", "0.5"}).threshold_percent == 0.5);
  CHECK(parsed({"--fail-on-regress=5%"}).fail_percent == 5);
  CHECK_FALSE(parsed({}).fail_percent);
  CHECK_THROWS(parsed({"--threshold=5%%"}));
  CHECK_THROWS(parsed({"--threshold=%"}));
  CHECK_THROWS(parsed({"--fail-on-regress=-1%"}));
  CHECK_THROWS(parsed({"--threshold=nan"}));
}

TEST_CASE("runs are words, or lists behind --before and --after") {
  const DiffOptions words = parsed({"a1,a2", "b", "--by=line"});
  CHECK(words.before == "a1,a2");
  CHECK(words.after == "b");
  CHECK(words.changes.by == ComparedBy::Line);
  const DiffOptions lists = parsed({"--before", "a1", "a2", "--after", "b1", "--after", "b2"});
  CHECK(lists.before_runs == std::vector<std::string>{"a1", "a2"});
  CHECK(lists.after_runs == std::vector<std::string>{"b1", "b2"});
}

TEST_CASE("regressions come first, what is within chance last") {
  const Rendered shown =
      diffed(sampled_runs({}, 1, 5), sampled_runs({.slower = 0.5}, 501, 5), parsed({"--threshold=0.1"}));
  CHECK(shown.status == 0);
  const auto lines = from(shown.text, "regressions");
  REQUIRE(lines.size() > 4);
  CHECK(lines[1] == "     before      after  difference            of total        p  function");
  CHECK(lines[2].ends_with("  hot (work.cpp:12)"));
  CHECK(lines[2].find(" x 1.") != std::string::npos);
  CHECK(from(shown.text, "within noise").size() > 3);
  CHECK(shown.text.find("before    5 runs of app: before, before") != std::string::npos);
}

TEST_CASE("of equals nothing is reported") {
  const auto runs = sampled_runs({}, 1, 3);
  const Rendered shown = diffed(runs, runs, parsed({"--fail-on-regress=1%"}));
  CHECK(shown.status == 0);
  CHECK(shown.text.find("CPUTIME   the same, ") == 0);
  CHECK(shown.text.ends_with("\nno function differs by 1.0 % of the total or more\n"));
}

TEST_CASE("at most so many rows of a kind are shown") {
  const Rendered shown =
      diffed(sampled_runs({.deviation = 0}, 1, 3), sampled_runs({.samples = 6000, .deviation = 0}, 501, 3),
             parsed({"--limit=2"}));
  const auto lines = from(shown.text, "regressions");
  REQUIRE(lines.size() == 5);
  CHECK(lines[4].starts_with("          and "));
  CHECK(lines[4].find(" more: --limit=") != std::string::npos);
}

TEST_CASE("a regression above the limit is status 3, one below is not") {
  const auto before = sampled_runs({}, 1, 5), after = sampled_runs({.slower = 0.5}, 501, 5);  // 15 % of all
  CHECK(diffed(before, after, parsed({"--fail-on-regress=5%"})).status == kRegressed);
  CHECK(diffed(before, after, parsed({"--fail-on-regress=25%"})).status == 0);
  CHECK(diffed(after, before, parsed({"--fail-on-regress=5%"})).status == 0);
  CHECK(diffed(before, sampled_runs({}, 901, 5), parsed({"--fail-on-regress=0%"})).status == 0);
}

TEST_CASE("JSON has the runs, the total, what was found and the rows") {
  const Rendered shown = diffed(sampled_runs({}, 1, 5), sampled_runs({.slower = 0.5}, 501, 5),
                                parsed({"--format=json", "--by=path"}));
  const auto json = nlohmann::json::parse(shown.text);
  CHECK(json["schema"] == "prof-diff/1");
  CHECK(json["by"] == "path");
  CHECK(json["metric"] == "CPUTIME");
  CHECK(json["before"].size() == 5);
  CHECK(json["before"][0]["samples"].get<double>() > 2500);
  CHECK(json["run_to_run"]["measured"] == true);
  CHECK(json["findings"][0]["kind"] == "regression");
  const auto& row = json["rows"][0];
  CHECK(row["frames"][0]["function"] == "hot");
  CHECK(row["frames"][1]["function"] == "main");
  CHECK(row["significant"] == true);
  CHECK(row["presence"] == "both");
  CHECK(row["exclusive"]["difference"].get<double>() ==
        Approx(row["exclusive"]["after"].get<double>() - row["exclusive"]["before"].get<double>()));
  CHECK(row["share_of_total"].get<double>() == Approx(0.15).epsilon(0.2));
  CHECK(json["total"]["exclusive"]["before"].get<double>() == Approx(3).epsilon(0.05));
}

TEST_CASE("scaling says what is lost and along which calls") {
  const std::vector<Database> before = sampled_runs({.ranks = 2}, 1, 3),
                              after = sampled_runs({.ranks = 8, .waiting = 150}, 501, 3);
  const Rendered shown = diffed(before, after, parsed({"--scaling=strong"}));
  CHECK(shown.text.starts_with("scaling   strong scaling from 2 to 8 ranks: "));
  CHECK(from(shown.text, "lost")[2].ends_with("  wait (wait.cpp:90)"));
  CHECK(shown.text.ends_with("\nmost of the loss is along\n  main -> hot -> wait\n"));
  const auto json =
      nlohmann::json::parse(diffed(before, after, parsed({"--scaling=strong", "--format=json"})).text);
  CHECK(json["scaling"]["workers_after"] == 8);
  CHECK(json["scaling"]["efficiency"].get<double>() == Approx(3 / 4.2).epsilon(0.05));
  CHECK(json["findings"][0]["kind"] == "scaling-loss");
  CHECK(json["findings"][0]["contexts"][0]["frames"][0]["function"] == "wait");
  CHECK_FALSE(json["findings"].back().contains("contexts"));  // the total
}
