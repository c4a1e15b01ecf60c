// Reports, comparisons and exports of synthetic databases equal the golden files, byte by byte. If
// PROF_WRITE_GOLDEN is set, the test writes the files instead, for an intended change.

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "prof/report/diff_report.h"
#include "tests/analysis/database/run_text.h"
#include "tests/export/exported.h"
#include "tests/report/contended.h"
#include "tests/report/idle_device.h"
#include "tests/report/locked.h"
#include "tests/report/sampled_runs.h"
#include "tests/report/stalled_ranks.h"
#include "tests/report/wasting.h"

using namespace prof;
using namespace prof::test;
using Json = nlohmann::json;

namespace {

void check_golden(const std::string& name, const std::string& text) {
  CAPTURE(name);
  if (std::getenv("PROF_WRITE_GOLDEN"))
    std::ofstream(std::filesystem::path(PROF_SOURCE_DIR) / "tests/report/golden" / name) << text;
  CHECK(text == golden(name));
}

void check_report(const Database& database, ReportView view, ReportFormat format, const std::string& name) {
  ReportOptions options;
  options.database = "run";
  options.view = view;
  options.format = format;
  options.columns = 100;
  check_golden(name, rendered(database, options).text);
}

// Checks "locks.txt", "locks.json" and "locks.csv".
void check_view(const Database& database, ReportView view, const std::string& name) {
  check_report(database, view, ReportFormat::Text, name + ".txt");
  check_report(database, view, ReportFormat::Json, name + ".json");
  check_report(database, view, ReportFormat::Csv, name + ".csv");
}

// Contended data of each kind, with each kind of evidence, and the repairs made meanwhile.
Database contended() {
  Database database = counting(both_sides);
  Json run = run_of(database);
  Json& all = run["contention"];
  all[0]["followed"] = 2;
  all[0]["saving_s"] = 1.0;
  all[0]["saving_low_s"] = 0.8;
  all[0]["saving_high_s"] = 1.2;
  all[0]["repair"] = "After 500 ms of the run, the page was isolated: each thread had a private copy.";

  Json allocations = all[0];
  allocations["sharing"] = "true";
  allocations["kind"] = "allocation";
  allocations["name"] = allocations["declared"] = allocations["type"] = "";
  allocations["weight_s"] = 0.0;
  allocations["followed"] = 0;
  allocations["source"] = "Intel PEBS";
  allocations["transfers"] = allocations["hitm"] = 250'000.0;
  allocations["transfers_per_s"] = 125'000.0;
  allocations["remote_hitm"] = 50'000.0;
  allocations["latency_cycles"] = 50'000'000.0;
  allocations["remedy"] = "copy-per-thread";
  allocations["changes"] = Json::array();
  allocations["allocations"] = {{{"context", all[0]["sides"][0]["context"]}, {"bytes", 64}, {"objects", 2}}};
  for (Json& side : allocations["sides"]) side["allocation"] = 1;
  allocations["sides"][2]["object"] = 2;
  all.push_back(allocations);

  Json counted = all[0];
  counted["sharing"] = "mixed";
  counted["kind"] = "unknown";
  counted["name"] = "[heap]";
  counted["address"] = 0x7f0000000000;
  counted["weight_s"] = 0.0;
  counted["followed"] = 0;
  counted["source"] = "exact, by pages";
  counted["interleaved"] = 300.0;
  counted["interleaved_per_s"] = 60.0;
  counted["remedy"] = "separate-fields";
  counted["changes"] = Json::array();
  for (Json& side : counted["sides"]) side["context"] = 0;
  all.push_back(counted);

  run["contention_sources"] = {"Intel PEBS", "decoded instructions and breakpoints"};
  run.erase("notes");  // as older versions wrote it
  run["degradations"] = {"Contention cannot be confirmed here: x.", "2 samples were lost."};
  const Json placed = {{"kind", "placed"}, {"context", 1}, {"since_s", 0.5},   {"bytes", 64},   {"align", 64},
                       {"offset", 0},      {"pad", 0},     {"conflicts", 100}, {"remaining", 0}};
  Json planned = placed, declined = placed;
  planned["kind"] = "planned";
  declined["kind"] = "declined";
  const Json isolated = {{"kind", "isolated"}, {"why", ""},      {"name", "counters"},
                         {"address", 4096},    {"since_s", 0.5}, {"share", 0.25}};
  Json shared = isolated;
  shared["kind"] = "shared";
  shared["why"] = "the program forked";
  shared["address"] = 8192;
  run["repairs"] = {
      {"layout", true},
      {"locks", true},
      {"isolate", true},
      {"plan", false},
      {"placed_allocations", 12},
      {"padding_bytes", 4096},
      {"refused_allocations", 1},
      {"planned_sites", 1},
      {"moved_locks", 2},
      {"declined_locks",
       {{"robust", 1}, {"priority", 2}, {"shared", 3}, {"spin", 4}, {"elided", 5}, {"memory", 6}}},
      {"sites", {placed, planned, declined}},
      {"pages", {isolated, shared}},
      {"conversions", 2},
      {"conversion_s", 0.002},
      {"longest_conversion_s", 0.0015},
      {"commits", 400},
      {"commit_s", 0.1},
      {"merged_words", 1000},
      {"converted_s", 4.0},
      {"guarantee", "annotated"},
      {"isolated_meetings", 300.0},
      {"common_meetings", 100.0}};
  set_run(database, run);
  return database;
}

// One of 16 ranks on 4 nodes computes 1.6 times as long as the others, which wait for it.
Database slow_rank() {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/flow", 3);
  b.function("solve", "solve.cpp", "/home/me/flow", 10);
  b.function("MPI_Allreduce", "", "/usr/lib/libmpi.so");
  b.metric("CPUTIME", "sec");
  for (int32_t rank = 0; rank < 16; ++rank) {
    const uint32_t thread = b.thread(0, "flow", rank);
    b.database.profiles[thread].id.host = "n" + std::to_string(rank / 4);
    const double solves = (rank == 7 ? 4.8 : 3.0) + 0.005 * (rank % 4);
    b.spend(thread, {{"main", 40}, {"solve", 14}}, solves);
    b.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, 5 - solves);
  }
  Database database = b.build();
  set_run_text(
      database,
      R"({"sampling": {"samples": 9000, "metrics": {"CPUTIME": {"requested_hz": 200, "samples": 9000}}}})");
  return database;
}

// Runs of app that differ slightly, and in the cost of hot.
std::vector<Database> runs_of_app(double hot) {
  std::vector<Database> runs;
  for (const double deviation : {-0.01, 0.0, 0.01}) {
    DatabaseBuilder b;
    b.metric("CPUTIME", "sec");
    for (const char* const function : {"main", "hot", "parse", "sort"})
      b.function(function, "work.cpp", "/bin/app", 10);
    const uint32_t thread = b.thread(0, "app");
    b.spend(thread, {{"main", 5}, {"hot", 12}}, hot * (1 + deviation));
    b.spend(thread, {{"main", 5}, {"parse", 20}}, 2 * (1 - deviation));
    b.spend(thread, {{"main", 6}, {"sort", 30}}, 1);
    b.database.title = "app";
    set_run_text(
        b.database,
        R"({"sampling": {"samples": 5000, "metrics": {"CPUTIME": {"samples": 5000}}}, "run": {"ranks": 0}})");
    runs.push_back(b.build());
  }
  return runs;
}

void check_diff(const DiffOptions& options, const std::string& name) {
  MatchedRuns runs;
  match_runs(runs, runs_of_app(2), runs_of_app(3));
  check_golden(name, rendered([&](std::FILE* out) { return diff(runs, options, out, false); }).text);
}

}  // namespace

TEST_CASE("golden reports of contention and repairs") {
  check_view(contended(), ReportView::Contention, "contention");
  check_view(contended(), ReportView::Summary, "contended-summary");
}

TEST_CASE("golden reports of wasted stores and loads") {
  check_view(wasting(), ReportView::MemoryWaste, "memory-waste");
  check_report(wasting(), ReportView::Summary, ReportFormat::Text, "wasting-summary.txt");
  check_report(wasting(true), ReportView::MemoryWaste, ReportFormat::Text, "memory-waste-exact.txt");
}

TEST_CASE("golden reports of locks") {
  check_view(deadlocked(), ReportView::Locks, "locks");
  check_view(deadlocked(), ReportView::Summary, "locked-summary");
}

TEST_CASE("golden reports of stalls and ranks") {
  Database database = stalled_ranks();
  Json run = run_of(database);
  run.erase("notes");
  run["degradations"] = {"In traces, x is missing.", "2 samples were lost."};
  set_run(database, run);
  check_view(database, ReportView::Stalls, "stalls");
  check_view(database, ReportView::Summary, "stalled-summary");
  check_view(slow_rank(), ReportView::Ranks, "ranks");
  check_view(slow_rank(), ReportView::Summary, "ranks-summary");
}

TEST_CASE("golden reports of devices") {
  check_report(program(), ReportView::Devices, ReportFormat::Json, "devices.json");
  check_report(program(), ReportView::Devices, ReportFormat::Csv, "devices.csv");
  check_report(program(), ReportView::Idleness, ReportFormat::Json, "idleness.json");
  check_report(program(), ReportView::Idleness, ReportFormat::Csv, "idleness.csv");
  check_view(program(), ReportView::Summary, "devices-summary");
}

TEST_CASE("golden comparisons of runs") {
  DiffOptions options;
  check_diff(options, "diff.txt");
  options.format = DiffFormat::Json;
  check_diff(options, "diff.json");
}

TEST_CASE("golden exports") {
  for (const auto& [format, name] :
       {std::pair(ExportFormat::Json, "export.json"), std::pair(ExportFormat::Callgrind, "export.callgrind"),
        std::pair(ExportFormat::Collapsed, "export.collapsed"),
        std::pair(ExportFormat::Speedscope, "export.speedscope"), std::pair(ExportFormat::Csv, "export.csv"),
        std::pair(ExportFormat::Extrap, "export.extrap")})
    check_golden(name, exported(deadlocked(), format).text);
}
