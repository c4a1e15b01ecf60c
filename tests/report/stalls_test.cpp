#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/views/run/stall_report.h"
#include "prof/base/message.h"
#include "tests/report/rendered.h"
#include "tests/report/stalled_ranks.h"

using namespace prof;
using namespace prof::test;
using Json = nlohmann::json;

namespace {

ReportOptions stalls_as(ReportFormat format) {
  ReportOptions options;
  options.database = "team";
  options.view = ReportView::Stalls;
  options.format = format;
  return options;
}

const char* const kSentence =
    "Stall: for 800 ms (20 % of the run) all other threads waited in MPI_Barrier for one that was blocked in "
    "read, "
    "called from load (load.cpp:14): 1 time, always thread 3.0 (team).";

}  // namespace

TEST_CASE("the stalls of a run as JSON") {
  const Rendered result = rendered(stalled_ranks(), stalls_as(ReportFormat::Json));
  REQUIRE(result.status == 0);
  const Json json = Json::parse(result.text);
  CHECK(json["schema"] == "prof-report/1");
  CHECK(json["view"] == "stalls");
  CHECK(json["units"] == Json{{"STALL", "sec"}});
  CHECK(json["totals"]["STALL"] == 0.8);
  CHECK(json["share_of_run"] == 0.2);
  CHECK(json["traces"] == Json{{"threads", 12},
                               {"bystanders", 0},
                               {"duration_s", 4.0},
                               {"long_intervals", 1},
                               {"longest_s", 0.8},
                               {"unknown_s", 0.0}});
  CHECK(json["rule"] == Json{{"factor", 10.0}, {"share", 0.1}, {"period_s", 0.005}});
  CHECK(json["notes"] == Json::array());
  REQUIRE(json["findings"].size() == 1);
  const Json& finding = json["findings"][0];
  CHECK(finding["kind"] == "stall");
  CHECK(finding["severity"] == "high");
  CHECK(finding["metric"] == "STALL");
  CHECK(finding["cost"]["value"] == 0.8);
  CHECK(finding["cost"]["share_of_run"] == 0.2);
  CHECK(finding["sentence"] == kSentence);
  CHECK(finding["values"] == Json{{"stalls", 1}, {"threads", 1}, {"longest_s", 0.8}, {"blocked_s", 0.8}});
  CHECK(finding["contexts"][0]["role"] == "blocked");
  CHECK(finding["contexts"][0]["frames"][1] ==
        Json{{"function", "load"}, {"file", "src/load.cpp"}, {"line", 14}, {"module", "/home/me/team"}});
  CHECK(finding["contexts"][1]["role"] == "waiting");
  CHECK(finding["contexts"][1]["frames"][0]["function"] == "MPI_Barrier");
  REQUIRE(json["stalls"].size() == 1);
  const Json& stall = json["stalls"][0];
  CHECK(stall["begin_s"] == 1.0);
  CHECK(stall["end_s"] == 1.8);
  CHECK(stall["lost_s"] == 0.8);
  CHECK(stall["threads"][0]["rank"] == 3);
  CHECK(stall["threads"][0]["frames"].size() == 3);
}

TEST_CASE("docs/json.md describes every key of the stalls") {
  const std::string page = file_text(std::filesystem::path(PROF_SOURCE_DIR) / "docs/json.md");
  std::vector<Json> open = {Json::parse(rendered(stalled_ranks(), stalls_as(ReportFormat::Json)).text)};
  while (!open.empty()) {
    const Json json = std::move(open.back());
    open.pop_back();
    for (const auto& [key, value] : json.items()) {
      CAPTURE(key);
      if (json.is_object() && key != "STALL") CHECK(page.find("`" + key + "`") != std::string::npos);
      if (value.is_structured()) open.push_back(value);
    }
  }
}

TEST_CASE("the stalls of a run as text and CSV") {
  const std::string text = rendered(stalled_ranks(), stalls_as(ReportFormat::Text)).text;
  const std::vector<std::string> lines = lines_of(text);
  CHECK(lines[0] ==
        "stalls    800 ms (20 % of 4.00 s) lost in 1 stall, while all other threads waited in a barrier");
  CHECK(lines[1] == "traces    12 threads, by elapsed time (REALTIME), one sample every 5 ms");
  CHECK(lines.back() == "     1.000 s    800 ms  3.0 team                800 ms  read <- load (load.cpp:14)");
  for (const std::string& line : lines) CHECK(line.size() <= 100);

  const std::vector<std::string> rows =
      lines_of(rendered(stalled_ranks(), stalls_as(ReportFormat::Csv)).text);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1] == "0,1.000000,1.800000,0.800000,3.0 team,1.000000,1.800000,0.800000,__GI___read,,,load");
}

TEST_CASE("the rule of stalls can be changed") {
  ReportOptions options = stalls_as(ReportFormat::Text);
  options.stall_factor = 161;
  CHECK(lines_of(rendered(stalled_ranks(), options).text)[0] ==
        "stalls    none in 4.00 s: no thread was blocked for long");
  options = stalls_as(ReportFormat::Text);
  options.stall_share_percent = 5;
  const std::string text = rendered(stalled_ranks(), options).text;
  CHECK(lines_of(text)[0].starts_with("stalls    none in 4.00 s: threads were blocked 1 time, up to 800 ms"));
  CHECK(text.find("One of 12 threads is 8.3 % of them") != std::string::npos);
}

TEST_CASE("the summary names stalls among its findings") {
  ReportOptions options;
  options.format = ReportFormat::Json;
  const Json json = Json::parse(rendered(stalled_ranks(), options).text);
  size_t stalls = 0;
  for (const Json& finding : json["findings"]) stalls += finding["sentence"] == kSentence;
  CHECK(stalls == 1);
}

TEST_CASE("what keeps a run from showing stalls is one line") {
  const auto why = [](const Database& database) {
    return reason_no_stalls(build_call_tree(database, select(database, {}, {}), false)).value_or("");
  };
  CHECK(why(stalled_ranks()).empty());
  Database database = stalled_ranks();
  database.traces.clear();
  CHECK(why(database) ==
        "stalls are found in traces, and no trace was recorded; measure with prof run --trace -e REALTIME");
  CHECK(rendered(database, stalls_as(ReportFormat::Text)).status == kOwnFailure);
  CHECK(why(stalled_ranks("CPUTIME")) ==
        "the traces follow CPUTIME, which does not advance while a thread is blocked; measure with prof run "
        "--trace -e "
        "REALTIME");
}
