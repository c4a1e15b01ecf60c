#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/findings/contention.h"
#include "analysis/views/run/format_contention.h"
#include "analysis/views/run/merged_contention.h"
#include "prof/base/message.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/contended.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;
using Json = nlohmann::json;

namespace {

ReportOptions contention_as(ReportFormat format) {
  ReportOptions options;
  options.database = "count";
  options.view = ReportView::Contention;
  options.format = format;
  return options;
}

}  // namespace

TEST_CASE("contention as JSON, and in the summary") {
  const Database database = counting(both_sides);
  const Rendered result = rendered(database, contention_as(ReportFormat::Json));
  REQUIRE(result.status == 0);
  const Json json = Json::parse(result.text);
  CHECK(json["view"] == "contention");
  REQUIRE(json["findings"].size() == 1);
  const Json& finding = json["findings"][0];
  CHECK(finding["kind"] == "false-sharing");
  CHECK(finding["severity"] == "high");
  CHECK(finding["cost"]["share_of_run"] == 0.75);
  CHECK(finding["sentence"] ==
        "False sharing: 2 threads use different bytes on the same cache line of counters (count.cpp:1): "
        "thread 100.0 (count) reads and writes counters[0].hits in count_first (count.cpp:4), "
        "thread 100.1 (count) reads and writes counters[1].hits "
        "in count_second "
        "(count.cpp:10); 75 % of the CPU time was spent there.");
  CHECK(finding["advice"] == "Put each element on its own cache lines.");
  CHECK(finding["contexts"].size() == 3);
  REQUIRE(json["data"].size() == 1);
  const Json& data = json["data"][0];
  CHECK(data["name"] == "counters");
  CHECK(data["bytes_after"] == 128);
  CHECK(data["changes"] == run_of(database)["contention"][0]["changes"]);
  CHECK(data["sides"][2]["thread"] == 1);
  CHECK(data["sides"][2]["frames"][0]["line"] == 10);
  CHECK(data["pictures"][0]["rows"][0]["bytes"] == "bbbbbbbb" + std::string(56, '.'));
  CHECK(data["pictures"][0]["rows"][1]["bytes"] == "........bbbbbbbb" + std::string(48, '.'));

  ReportOptions summary;
  summary.format = ReportFormat::Json;
  const Json report = Json::parse(rendered(database, summary).text);
  CHECK(std::ranges::any_of(report["findings"],
                            [&](const Json& one) { return one["sentence"] == finding["sentence"]; }));
}

TEST_CASE("where threads were followed a finding costs what the change saves") {
  Database database = counting(both_sides);
  Json run = run_of(database);
  run["contention"][0]["saving_s"] = 0.8;
  run["contention"][0]["followed"] = 2;
  set_run(database, run);
  const Json json = Json::parse(rendered(database, contention_as(ReportFormat::Json)).text);
  const Json& finding = json["findings"][0];
  CHECK(finding["cost"]["share_of_run"] == 0.4);
  CHECK(finding["cost"]["basis"].get<std::string>().starts_with("estimate"));
  CHECK(finding["sentence"].get<std::string>().ends_with(
      "75 % of the CPU time was spent there, and 40 % would be saved if they did not contend."));
}

TEST_CASE("a saving is an interval where one is known") {
  Database database = counting(both_sides);
  Json run = run_of(database);
  Json& data = run["contention"][0];
  data["followed"] = 2;
  data["saving_s"] = 1.0;
  data["saving_low_s"] = 0.8;
  data["saving_high_s"] = 1.2;
  set_run(database, run);
  const Json json = Json::parse(rendered(database, contention_as(ReportFormat::Json)).text);
  CHECK(json["findings"][0]["sentence"].get<std::string>().ends_with(
      ", and 40 to 60 % would be saved if they did not contend."));
  CHECK(json["findings"][0]["values"]["saving_low_s"] == 0.8);
  CHECK(json["data"][0]["saving_high_s"] == 1.2);
  CHECK(json["data"][0]["saving_s"] == 1.0);
  data["saving_low_s"] = 0.0;
  set_run(database, run);
  const Json open = Json::parse(rendered(database, contention_as(ReportFormat::Json)).text);
  CHECK(open["findings"][0]["sentence"].get<std::string>().ends_with(
      ", and up to 60 % would be saved if they did not contend."));
}

TEST_CASE("one of the two threads that are named writes, and each has the variable that it uses") {
  Database database = counting([](uint32_t first, uint32_t second) -> Json {
    Json sides = {side(0, "", "reads", 0, first), side(1, "", "reads", 0, second),
                  side(0, "", "writes", 16, first)};
    sides[0]["name"] = sides[1]["name"] = "table";
    sides[2]["name"] = "guard";
    sides[2]["declared"] = "count.cpp:2";
    return sides;
  });
  Json run = run_of(database);
  run["contention"][0]["name"] = "table";
  set_run(database, run);
  const Json json = Json::parse(rendered(database, contention_as(ReportFormat::Json)).text);
  const std::string sentence = json["findings"][0]["sentence"];
  INFO(sentence);
  CHECK(sentence.find("cache line of table (count.cpp:1)") != sentence.npos);
  CHECK(sentence.find("and guard (count.cpp:2)") != sentence.npos);
  CHECK(sentence.find("(count) reads table in count_second") != sentence.npos);
  CHECK(sentence.find("(count) writes guard in count_first") != sentence.npos);
  CHECK(sentence.find("no sample shows") == sentence.npos);

  database = counting([](uint32_t first, uint32_t second) -> Json {
    return {side(0, "[0]", "reads", 0, first), side(1, "[1]", "reads", 8, second)};
  });
  const Json unseen = Json::parse(rendered(database, contention_as(ReportFormat::Json)).text);
  CHECK(unseen["findings"][0]["sentence"].get<std::string>().find("no sample shows the thread") !=
        std::string::npos);
}

TEST_CASE(
    "where contention cannot be followed that is said, and of several processes that they are not compared") {
  RunSummary run;
  CHECK(reason_no_contention(run)->find("not measured") != std::string::npos);
  run.notes = {{hpcrun::NoteKind::Run, "Contention is high in this sentence."},
               {hpcrun::NoteKind::Contention, "It was not followed in app."}};
  CHECK(reason_no_contention(run) == run.notes[1].text);
  run.looked_for_contention = true;
  run.processes = 1;
  CHECK(contention_notes(run).size() == 1);
  run.processes = 2;
  REQUIRE(contention_notes(run).size() == 2);
  CHECK(contention_notes(run)[0].starts_with("Contention between processes is not measured: 2 processes"));
}

TEST_CASE("what hardware recorded of transfers is said beside the CPU time that samples found there") {
  Database database = counting(both_sides);
  Json run = run_of(database);
  Json& report = run["contention"][0];
  report["source"] = "Intel PEBS";
  report["transfers"] = 250'000.0;
  report["transfers_per_s"] = 125'000.0;
  report["hitm"] = 250'000.0;
  report["latency_cycles"] = 50'000'000.0;
  run["contention_sources"] = {"Intel PEBS", "decoded instructions and breakpoints"};
  set_run(database, run);
  const Json json = Json::parse(rendered(database, contention_as(ReportFormat::Json)).text);
  const Json& finding = json["findings"][0];
  CHECK(finding["sentence"].get<std::string>().ends_with(
      "; about 120,000 loads a second found the line modified in another processor's cache (HITM); each took "
      "200 cycles (Intel PEBS); 75 % of the CPU time was spent there."));
  CHECK(finding["metric"] == "CPUTIME");
  CHECK(finding["cost"]["share_of_run"] == 0.75);
  CHECK(finding["values"]["transfers_per_s"] == 125'000);
  CHECK(json["sources"] == run["contention_sources"]);
  const std::string text = rendered(database, contention_as(ReportFormat::Text)).text;
  CHECK(text.ends_with("\n\ncontention sources: Intel PEBS; decoded instructions and breakpoints\n"));

  run["contention"][0]["weight_s"] = 0;  // as in recordings of other profilers
  set_run(database, run);
  const Json imported = Json::parse(rendered(database, contention_as(ReportFormat::Json)).text);
  CHECK(imported["findings"][0]["sentence"].get<std::string>().ends_with("cycles (Intel PEBS)."));
  CHECK(imported["findings"][0]["cost"]["unit"] == "cycles");
}

TEST_CASE("docs/json.md describes every key of contention") {
  const std::string page = file_text(std::filesystem::path(PROF_SOURCE_DIR) / "docs/json.md");
  std::vector<Json> open = {
      Json::parse(rendered(counting(both_sides), contention_as(ReportFormat::Json)).text)};
  while (!open.empty()) {
    const Json json = std::move(open.back());
    open.pop_back();
    for (const auto& [key, value] : json.items()) {
      CAPTURE(key);
      if (json.is_object() && key != "CPUTIME") CHECK(page.find("`" + key + "`") != std::string::npos);
      if (value.is_structured()) open.push_back(value);
    }
  }
}

TEST_CASE("contention as text and CSV") {
  const std::vector<std::string> text =
      lines_of(rendered(counting(both_sides), contention_as(ReportFormat::Text)).text);
  CHECK(text[0].starts_with(" 1. False sharing: 2 threads use different bytes on the same cache line of counters"));
  for (const std::string& line : text) CHECK(line.size() <= 100);
  CHECK(std::ranges::count_if(
            text, [](const std::string& line) { return line.find("bbbbbbbb") != line.npos; }) == 2);
  const std::vector<std::string> rows =
      lines_of(rendered(counting(both_sides), contention_as(ReportFormat::Csv)).text);
  REQUIRE(rows.size() == 4);
  CHECK(rows[3].starts_with("0,false,counters,count.cpp:1,16,1.500000,"));
}

TEST_CASE("where contention was not looked for the view says so, and where none was found as well") {
  Database database = counting(both_sides);
  set_run_text(database, R"({"run": {"command": "./count"}, "contention": []})");
  CHECK(rendered(database, contention_as(ReportFormat::Text)).text == "no contention was found\n");
  set_run_text(database, R"({"run": {"command": "./count"}, "contention": [],
          "degradations": ["Contention cannot be confirmed here: x.", "2 samples were lost."]})");
  CHECK(rendered(database, contention_as(ReportFormat::Text)).text ==
        "no contention was found\n\nnote  Contention cannot be confirmed here: x.\n");
  CHECK(Json::parse(rendered(database, contention_as(ReportFormat::Json)).text)["notes"] ==
        Json{"Contention cannot be confirmed here: x."});
  set_run_text(database, R"({"run": {"command": "./count"}})");
  CHECK(rendered(database, contention_as(ReportFormat::Text)).status == kOwnFailure);
}

TEST_CASE("the id of a finding stays when numbers change, and is another one for other data") {
  const auto id_of = [](const Database& database) {
    const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
    return contention_findings(tree, run_summary(database)).at(0).id;
  };
  Database database = counting(both_sides);
  const std::string id = id_of(database);
  CHECK(id.starts_with("false-sharing-counters-"));
  CHECK(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == id.npos);
  Json run = run_of(database);
  run["contention"][0]["weight_s"] = 0.25;
  run["contention"][0]["process"] = 8;
  set_run(database, run);
  CHECK(id_of(database) == id);
  run["contention"][0]["declared"] = "count.cpp:2";
  set_run(database, run);
  CHECK(id_of(database) != id);
}

TEST_CASE("records that lead nowhere are left out") {
  const auto broken = [](uint32_t first, uint32_t second) -> Json {
    Json far = side(0, "", "reads", 0, second);
    far["line_offset"] = 64;
    Json wide = side(0, "", "reads", 0, second);
    wide["bytes"] = uint64_t{1} << 40;
    return {side(99, "", "reads", 0, first), side(0, "", "reads", 0, kNone), far, wide, "side", 7};
  };
  const Json json = Json::parse(rendered(counting(broken), contention_as(ReportFormat::Json)).text);
  CHECK(json["findings"].empty());
  CHECK(json["data"][0]["sides"].empty());
}

namespace {

ContendedRecord record_of(int32_t process, DataKind kind, const char* name, double weight_s) {
  ContendedRecord record;
  record.process = process;
  record.sharing = hpcrun::Sharing::False;
  record.kind = kind;
  record.name = name;
  record.weight_s = weight_s;
  record.true_moves = 10;
  return record;
}

}  // namespace

TEST_CASE("the same data of several processes are one finding") {
  std::vector<ContendedRecord> records{
      record_of(1, DataKind::Variable, "counters", 2), record_of(2, DataKind::Variable, "counters", 3),
      record_of(3, DataKind::Variable, "other", 4),    record_of(4, DataKind::Unknown, "", 1),
      record_of(5, DataKind::Unknown, "", 1),          record_of(6, DataKind::Variable, "counters", 1),
  };
  records[0].followed = 2;
  records[0].saving_s = 1;
  records[1].followed = 1;
  records[1].saving_s = 1.5;
  const std::vector<ContendedRecord> merged = merge_processes(records);
  REQUIRE(merged.size() == 4);
  CHECK(merged[0].name == "counters");
  CHECK(merged[0].process == 2);  // the most expensive one
  CHECK(merged[0].processes == 3);
  CHECK(merged[0].weight_s == Approx(6));
  CHECK(merged[0].followed == 3);
  CHECK(merged[0].saving_s == Approx(3));  // half, also for the one that was not traced
  CHECK(merged[0].true_moves == Approx(30));
  CHECK(merged[1].name == "other");
  CHECK(merged[1].processes == 1);
  CHECK(merged[1].saving_s == 0);
  CHECK(merged[2].kind == DataKind::Unknown);
  CHECK(merged[3].process == 5);
}

TEST_CASE("allocations are the same where they are made in the same contexts") {
  std::vector<ContendedRecord> records(3, record_of(1, DataKind::Allocation, "", 2));
  records[0].allocations = {{7, 64, 2}};
  records[1].allocations = {{7, 64, 5}};
  records[2].allocations = {{8, 64, 2}};
  const std::vector<ContendedRecord> merged = merge_processes(records);
  REQUIRE(merged.size() == 2);
  CHECK(merged[0].processes == 2);
}

TEST_CASE("what lies beside an object on its line is reported by its address") {
  const auto sides = [](uint32_t first, uint32_t second) -> Json {
    Json beside = side(1, "", "writes", 0x7f0000000008, second);
    beside["line"] = 0x7f0000000000;
    beside["line_offset"] = 8;
    return {side(0, "[0].hits", "reads and writes", 0, first), beside};
  };
  const Json json = Json::parse(rendered(counting(sides), contention_as(ReportFormat::Json)).text);
  const std::string sentence = json["findings"][0]["sentence"];
  CHECK(sentence.find("thread 100.1 (count) writes memory at 0x7f0000000008 in count_second") !=
        std::string::npos);
}
