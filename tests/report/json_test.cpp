#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/analysis/database/run_text.h"
#include "tests/report/example.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;
using Json = nlohmann::json;

namespace {

ReportOptions json_options(ReportView view) {
  ReportOptions options;
  options.database = "prof-sum/database";
  options.view = view;
  options.format = ReportFormat::Json;
  return options;
}

Json parsed_json(const Database& database, const ReportOptions& options) {
  const Rendered result = rendered(database, options);
  REQUIRE(result.status == 0);
  return Json::parse(result.text);
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> result;
  for (const auto& [key, value] : object.items()) result.insert(key);
  return result;
}

using Keys = std::set<std::string>;

void check_is_string_or_null(const Json& value) {
  CHECK((value.is_string() || value.is_null()));
}

void check_row(const Json& row, size_t id, const Json& rows) {
  CHECK(keys(row) ==
        Keys{"id", "parent", "depth", "function", "file", "line", "module", "offset", "inlined", "values"});
  CHECK(row["id"] == id);
  if (row["parent"].is_null()) {
    CHECK(row["depth"] == 0);
  } else {
    REQUIRE(row["parent"] < id);
    CHECK(row["depth"] == rows[row["parent"].get<size_t>()]["depth"].get<int>() + 1);
  }
  CHECK(row["function"].is_string());
  check_is_string_or_null(row["file"]);
  CHECK((row["line"].is_null() || row["line"] > 0));
  check_is_string_or_null(row["module"]);
  CHECK(row["offset"].is_null() == row["module"].is_null());
  CHECK(row["inlined"].is_boolean());
  for (const auto& [metric, value] : row["values"].items()) {
    CAPTURE(metric);
    CHECK(keys(value) == Keys{"inclusive", "exclusive", "threads"});
    CHECK(value["inclusive"].is_number());
    CHECK(value["threads"]["count"].is_number_unsigned());
    for (const char* scope : {"inclusive", "exclusive"})
      CHECK(keys(value["threads"][scope]) == Keys{"sum", "min", "mean", "max", "stddev"});
  }
}

void check_finding(const Json& finding) {
  for (const std::string& key : keys(finding))
    CHECK(Keys{"id", "kind", "severity", "metric", "cost", "saving", "sentence", "contexts", "object",
               "verdict", "advice", "values", "view"}
              .count(key) == 1);
  CHECK_FALSE(finding["id"].get<std::string>().empty());
  if (finding.contains("saving")) {
    CHECK(keys(finding["saving"]) == Keys{"low_s", "high_s", "is_bound", "basis"});
    CHECK(finding["saving"]["low_s"] <= finding["saving"]["high_s"]);
    if (finding["saving"]["is_bound"]) CHECK(finding["saving"]["low_s"] == 0);
  }
  CHECK(finding["kind"].is_string());
  CHECK(Keys{"low", "medium", "high"}.count(finding["severity"]) == 1);
  CHECK(finding["sentence"].get<std::string>().back() == '.');
  if (finding.contains("cost")) {
    CHECK(keys(finding["cost"]) == Keys{"value", "unit", "share_of_run", "basis"});
    CHECK(finding["cost"]["share_of_run"] <= 1.0);
  }
  if (!finding.contains("contexts")) return;
  for (const Json& context : finding["contexts"]) {
    CHECK(context["role"].is_string());
    REQUIRE(context["frames"].is_array());
    for (const Json& frame : context["frames"]) CHECK(frame["function"].is_string());
  }
}

}  // namespace

TEST_CASE("every row of every table view follows the schema") {
  for (const ReportView view : {ReportView::TopDown, ReportView::BottomUp, ReportView::Flat}) {
    ReportOptions options = json_options(view);
    options.threshold_percent = 0;
    const Json json = parsed_json(example(), options);
    CHECK(keys(json) == Keys{"schema", "view", "database", "units", "totals", "threshold_percent", "rows"});
    CHECK(json["schema"] == "prof-report/1");
    CHECK(json["database"] == "prof-sum/database");
    CHECK(json["units"] == Json{{"CPUTIME", "sec"}});
    CHECK(json["totals"] == Json{{"CPUTIME", 8.0}});
    REQUIRE_FALSE(json["rows"].empty());
    for (size_t id = 0; id < json["rows"].size(); ++id) check_row(json["rows"][id], id, json["rows"]);
  }
}

TEST_CASE("the golden top-down report is what is printed, and what docs/json.md shows") {
  ReportOptions options = json_options(ReportView::TopDown);
  options.threshold_percent = 30;
  const std::string text = rendered(example(), options).text;
  CHECK(text == golden("top-down.json"));
  const std::string page = file_text(std::filesystem::path(PROF_SOURCE_DIR) / "docs/json.md");
  CHECK(page.find("```json\n" + text + "```\n") != std::string::npos);
}

TEST_CASE("the golden summary is what is printed, and what docs/json.md shows") {
  const std::string text = rendered(example(), json_options(ReportView::Summary)).text;
  CHECK(text == golden("summary.json"));
  const std::string page = file_text(std::filesystem::path(PROF_SOURCE_DIR) / "docs/json.md");
  CHECK(page.find("```json\n" + text + "```\n") != std::string::npos);
}

TEST_CASE("docs/json.md describes every key that a report can have") {
  const std::string page = file_text(std::filesystem::path(PROF_SOURCE_DIR) / "docs/json.md");
  std::vector<Json> open = {parsed_json(example(), json_options(ReportView::TopDown)),
                            parsed_json(example(), json_options(ReportView::Summary))};
  const Keys free_names = {"CPUTIME", "overrun", "end_of_stack", "bad_return_address"};
  while (!open.empty()) {
    const Json json = std::move(open.back());
    open.pop_back();
    if (json.is_object()) {
      for (const auto& [key, value] : json.items()) {
        CAPTURE(key);
        if (free_names.count(key) == 0) CHECK(page.find("`" + key + "`") != std::string::npos);
        open.push_back(value);
      }
    } else if (json.is_array()) {
      for (const Json& value : json) open.push_back(value);
    }
  }
}

TEST_CASE("the summary hands on what the run recorded and follows the schema") {
  const Json json = parsed_json(example(), json_options(ReportView::Summary));
  CHECK(keys(json) == Keys{"schema", "view", "database", "units", "totals", "run", "sampling", "stacks",
                           "overhead", "modules", "degradations", "findings"});
  const Json recorded = Json::parse(kExampleRun);
  for (const char* key : {"run", "sampling", "stacks", "overhead", "degradations"})
    CHECK(json[key] == recorded[key]);
  REQUIRE_FALSE(json["findings"].empty());
  for (const Json& finding : json["findings"]) check_finding(finding);
}

TEST_CASE("of a record only what has the right type and range is handed on") {
  Database database = example();
  set_run_text(
      database,
      R"({"run": {"command": ["x"], "host": {"a": 1}, "wall_s": "long", "cpu_s": -1, "exit_status": 1e300,
      "threads": -1, "processes": 3},
      "sampling": {"samples": 1e300, "requested_hz": -5, "dropped": {"overrun": "many"}, "metrics": [1]},
      "stacks": 7, "overhead": {"cpu_s_estimate": 1e300, "runtime_bytes": "all"}, "degradations": [1, "slow"]})");
  const Json json = parsed_json(database, json_options(ReportView::Summary));
  CHECK(json["run"] == Json{{"command", "sum"}, {"processes", 3}, {"threads", 2}, {"ranks", 0}});
  CHECK(json["sampling"] == Json{{"dropped", Json::object()}});
  CHECK_FALSE(json.contains("stacks"));
  CHECK_FALSE(json.contains("overhead"));
  CHECK(json["degradations"] == Json{"slow"});
}

TEST_CASE("a database without a record of its run says what its profiles say") {
  Database database = example();
  database.run.reset();
  const Json json = parsed_json(database, json_options(ReportView::Summary));
  CHECK(json["run"] == Json{{"command", "sum"}, {"processes", 1}, {"threads", 2}, {"ranks", 0}});
  CHECK_FALSE(json.contains("sampling"));
  CHECK(json["degradations"] == Json::array());
}

TEST_CASE("names with quotes, control characters and broken UTF-8 stay valid JSON") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{"quote \" back \\ tab \t \xff Grüße", 1}}, 1);
  const Json json = parsed_json(b.build(), json_options(ReportView::Flat));
  CHECK(json["rows"][0]["function"] == "quote \" back \\ tab \t \xEF\xBF\xBD Grüße");
}

TEST_CASE("numbers that are none become zero, and an empty database has no rows") {
  Database database = example();
  for (Summary& summary : database.summaries)
    if (summary.sum.exclusive == 0) summary.sum.exclusive = std::numeric_limits<double>::quiet_NaN();
  const Json json = parsed_json(database, json_options(ReportView::TopDown));
  CHECK(json["rows"][0]["values"]["CPUTIME"]["exclusive"] == 0);
  CHECK(parsed_json(Database{}, json_options(ReportView::TopDown))["rows"] == Json::array());
  CHECK(parsed_json(Database{}, json_options(ReportView::Summary))["findings"][0]["kind"] == "no-samples");
}
