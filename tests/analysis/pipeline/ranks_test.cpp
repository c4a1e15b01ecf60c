// Errors in ranks are reported, and the other ranks are analyzed.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/pipeline/pipeline.h"
#include "analysis/pipeline/rank_checks.h"
#include "analysis/pipeline/rank_choice.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/pipeline/measured_program.h"

namespace {

using namespace prof;
using namespace prof::test;
namespace fs = std::filesystem;

struct Rank {
  int number = 0;
  std::string environment = "PROF_LAUNCH=4711.0\nPROF_RELEASE=prof 1\nOMPI_COMM_WORLD_SIZE=4\n";
  std::string executable = "/home/me/app";
  std::string host = "n1";
  std::vector<uint64_t> sampled_ns = {kMillisecond};  // since the start
};

void write(const fs::path& directory, const Rank& rank) {
  hpcrun::ProcessInfo info = process_info();
  info.pid = 1000 + rank.number;
  info.rank = rank.number;
  info.environment = rank.environment.c_str();
  info.executable = rank.executable.c_str();
  info.host = rank.host.c_str();
  Recorder recorder(directory / (std::to_string(rank.number) + ".prof"), info);
  describe(recorder.file, fixture_module());
  recorder.file.write_thread_start(0, 1000 + rank.number, kStartMonotonic, "app");
  RecordedThread& thread = recorder.add_thread();
  sample(thread, {fixture_places().outer}, kTime, kMillisecond);
  for (const uint64_t time : rank.sampled_ns) REQUIRE(thread.trace.append(kStartMonotonic + time, 1));
  recorder.finish();
}

// Returns what the analysis of these ranks reports.
std::vector<std::string> said_of(const std::vector<Rank>& ranks, const fs::path& directory) {
  for (const Rank& rank : ranks) write(directory, rank);
  const Analysis analysis = analyze({directory});
  CHECK(analysis.database.profiles.size() == ranks.size());
  std::vector<std::string> said;
  for (const std::string& line : analysis.warnings)
    if (line.find("rank") != line.npos) said.push_back(line);
  for (const std::string& line : said)
    CHECK(run_of(analysis.database).dump(2).find(line) != std::string::npos);
  return said;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("Ranks that are whole and alike are nothing to speak of") {
  const TemporaryDirectory directory;
  CHECK(said_of({{0}, {1}, {2}, {3}}, directory / "") == Lines{});
}

TEST_CASE("Missing ranks are named, unless they were not to be measured") {
  const TemporaryDirectory directory;
  CHECK(said_of({{0}, {2}}, directory / "") == Lines{"ranks 1 and 3 of 4 left no measurements: killed at the "
                                                     "start, measured elsewhere, or files damaged"});
  const std::string chosen = Rank().environment + "PROF_RANKS=50%\n";
  const TemporaryDirectory other;
  CHECK(said_of({{0, chosen}, {2, chosen}}, other / "") == Lines{});
}

TEST_CASE("Ranks of two launches, of another program and of another prof are named") {
  const TemporaryDirectory launches;
  const std::string other = "PROF_LAUNCH=4712.0\nPROF_RELEASE=prof 1\nOMPI_COMM_WORLD_SIZE=4\n";
  CHECK(said_of({{0}, {1}, {2, other}, {3, other}}, launches / "") ==
        Lines{"measurements of 2 launches are analyzed as one run: 4711.0 (ranks 0-1), 4712.0 (ranks 2-3); "
              "measure each into a directory of its own"});
  const TemporaryDirectory programs;
  CHECK(said_of({{0}, {1}, {2, Rank().environment, "/tmp/app"}, {3}}, programs / "") ==
        Lines{"rank 2 ran a different program than the other ranks: /tmp/app"});
  const TemporaryDirectory releases;
  CHECK(said_of({{0}, {1}, {2}, {3, "PROF_LAUNCH=4711.0\nPROF_RELEASE=prof 2\n"}}, releases / "") ==
        Lines{"rank 3 was measured by a different prof than the other ranks: prof 2, not prof 1"});
}

TEST_CASE("How ranks ended is what their launchers saw") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "run-1.json") << R"({"exit_status": 137, "signal": 9, "cpu_s": 2})";
  std::ofstream(directory / "run-2.json") << R"({"exit_status": 1, "signal": 0, "cpu_s": 3})";
  std::ofstream(directory / "run-x.json") << R"({"exit_status": 1})";
  CHECK(said_of({{0}, {1}, {2}, {3}}, directory / "") ==
        Lines{"rank 2 ended with exit status 1", "rank 1 was killed by SIGKILL"});
  CHECK(analyze({directory / ""}).database.run->cpu_s == 5.0);
}

TEST_CASE("Ranks of several directories are added up once, and how some ended is not reported of others") {
  const TemporaryDirectory first, second;
  for (const int rank : {0, 1}) write(first / "", {rank});
  for (const int rank : {2, 3}) write(second / "", {rank});
  std::ofstream(first / "run.json") << R"({"exit_status": 0, "signal": 0, "cpu_s": 2})";
  std::ofstream(first / "run-0.json") << R"({"exit_status": 0, "signal": 0, "cpu_s": 2})";
  std::ofstream(first / "run-1.json") << R"({"exit_status": 3, "signal": 0, "cpu_s": 4})";
  std::ofstream(second / "run.json") << R"({"exit_status": 0, "signal": 0, "cpu_s": 8})";
  std::ofstream(second / "run-2.json") << R"({"exit_status": 0, "signal": 0, "cpu_s": 8})";
  std::ofstream(second / "run-3.json") << R"({"exit_status": 0, "signal": 0, "cpu_s": 16})";
  const auto run_in_all = [](const std::vector<fs::path>& directories) {
    return run_of(analyze(directories).database)["run"];
  };
  for (const auto& directories : {std::vector{first / "", second / ""}, std::vector{second / "", first / ""}})
    CHECK(run_in_all(directories)["cpu_s"] == 30.0);
  CHECK(run_in_all({first / ""})["exit_status"] == 3);
  CHECK(run_in_all({second / ""})["exit_status"] == 0);
  CHECK_FALSE(run_in_all({first / "", second / ""}).contains("exit_status"));
}

TEST_CASE("Ranks are chosen by numbers or as a share") {
  const RankChoice all;
  CHECK(all.contains(0));
  CHECK(all.count(7) == 7);
  const auto listed = RankChoice::parse("4-6,9");
  REQUIRE(listed);
  CHECK(listed->count(16) == 4);
  CHECK(listed->first(16) == 4);
  CHECK(listed->first(4) == std::nullopt);
  const auto tenth = RankChoice::parse("10%");
  REQUIRE(tenth);
  CHECK(tenth->count(100) == 10);
  CHECK(tenth->contains(0));
  CHECK(tenth->contains(90));
  CHECK(RankChoice::parse("100%")->count(13) == 13);
  CHECK(RankChoice::parse("0.1%")->count(10'000) == 10);
  for (const char* wrong : {"", "%", "0%", "101%", "3-1", "1,", "a", "-1", "1-", "1 2", "nan%"})
    CHECK_FALSE(RankChoice::parse(wrong));
}

TEST_CASE("The lines of a timeline have the first rank's time") {
  const TemporaryDirectory directory;
  for (const Rank& rank : {Rank{.number = 0}, Rank{.number = 1, .host = "n2"},
                           Rank{.number = 2, .host = "n3"}, Rank{.number = 3, .host = "n4"}})
    write(directory / "", rank);
  const auto first_times = [](const Analysis& analysis) {
    std::vector<int64_t> times;
    for (TraceSource trace : analysis.database.traces) {
      std::vector<TraceRecord> block;
      REQUIRE(trace(block));
      times.push_back(static_cast<int64_t>(block.front().time_ns));
    }
    for (size_t i = 1; i < times.size(); ++i) times[i] -= times[0];
    return std::vector(times.begin() + 1, times.end());
  };
  const auto said = [](const Analysis& analysis) {
    return std::ranges::count_if(analysis.warnings, [](const std::string& line) {
      return line.find("were not compared with the first rank's") != line.npos;
    });
  };
  Analysis analysis = analyze({directory / ""});
  CHECK(first_times(analysis) == std::vector<int64_t>{0, 0, 0});
  CHECK(said(analysis) == 1);

  // Records of a comparison at the start and the end, of a killed rank, and of something that is not a
  // record.
  std::ofstream(directory / "clock-n2.json")
      << R"({"host": "n2", "reference": "n1", "begin": {"offset_ns": 3000000, "error_ns": 9}, "end": {"offset_ns": 5000000, "error_ns": 9}})";
  std::ofstream(directory / "clock-n3.json")
      << R"({"host": "n3", "reference": "n1", "begin": {"offset_ns": -2000000000, "error_ns": 9}})";
  std::ofstream(directory / "clock-n4.json")
      << R"({"host": "n4", "reference": "n1", "begin": {"offset_ns": "soon"}})";
  analysis = analyze({directory / ""});
  CHECK(first_times(analysis) == std::vector<int64_t>{4'000'000, -2'000'000'000, 0});
  CHECK(said(analysis) == 1);
  std::ofstream(directory / "clock-n4.json")
      << R"({"host": "n4", "reference": "n1", "begin": {"offset_ns": 0, "error_ns": 9}})";
  CHECK(said(analyze({directory / ""})) == 0);
}

TEST_CASE("A clock that drifts is followed from the begin of the program to its end") {
  constexpr uint64_t kHour = 3'600'000 * kMillisecond;
  // Returns the record of n2: its clock is off by `begin`, and by `end` an hour later, after its
  // CLOCK_REALTIME was set forward by `set`.
  const auto record = [](int64_t begin, int64_t end, int64_t error, int64_t set) {
    const auto start = static_cast<int64_t>(kStartMonotonic), epoch = static_cast<int64_t>(kStartRealtime);
    const auto hour = static_cast<int64_t>(kHour);
    const auto at = [&](int64_t offset, int64_t time, int64_t forward) {
      return nlohmann::json{{"offset_ns", offset - forward},
                            {"error_ns", error},
                            {"realtime_ns", epoch + time + forward},
                            {"monotonic_ns", start + time}};
    };
    return nlohmann::json{
        {"host", "n2"}, {"reference", "n1"}, {"begin", at(begin, 0, 0)}, {"end", at(end, hour, set)}};
  };
  const TemporaryDirectory directory;
  const std::vector<uint64_t> times = {kHour / 4, kHour, 2 * kHour, 3 * kHour};
  write(directory / "", {.number = 0, .sampled_ns = times});
  write(directory / "", {.number = 1, .host = "n2", .sampled_ns = times});
  // Returns how much later the records of the second rank are than those of the first, whose times are the
  // same.
  const auto later = [&](const nlohmann::json& answers) {
    std::ofstream(directory / "clock-n2.json") << answers;
    std::vector<std::vector<uint64_t>> lines;
    for (TraceSource trace : analyze({directory / ""}).database.traces) {
      std::vector<TraceRecord> block;
      REQUIRE(trace(block));
      lines.emplace_back();
      for (const TraceRecord& one : block) lines.back().push_back(one.time_ns);
      trace(block);
      if (!block.empty()) lines.back().push_back(block.back().time_ns);
    }
    REQUIRE(lines.size() == 2);
    REQUIRE(lines[0].size() == lines[1].size());
    std::vector<int64_t> by;
    for (size_t i = 0; i < lines[0].size(); ++i)
      by.push_back(static_cast<int64_t>(lines[1][i] - lines[0][i]));
    return by;
  };
  using Times = std::vector<int64_t>;
  // The times at which samples end: the thread's start, and a quarter, one, two and three hours after it.
  CHECK(later(record(3'000'000, 23'000'000, 100, 0)) ==
        Times{3'000'000, 8'000'000, 23'000'000, 23'000'000, 23'000'000});
  CHECK(later(record(3'000'000, -17'000'000, 100, 0)) ==
        Times{3'000'000, -2'000'000, -17'000'000, -17'000'000, -17'000'000});
  // Set by two seconds meanwhile, while the clock that it measures time with continued.
  CHECK(later(record(3'000'000, 23'000'000, 100, 2'000'000'000)) ==
        Times{3'000'000, 8'000'000, 23'000'000, 23'000'000, 23'000'000});
  // A difference below the accuracy of the comparisons, and one above the possible drift: the mean is used.
  CHECK(later(record(3'000'000, 23'000'000, 10'000'000, 0)) == Times(5, 13'000'000));
  CHECK(later(record(0, static_cast<int64_t>(kHour), 100, 0)) == Times(5, static_cast<int64_t>(kHour / 2)));
  // Killed before the end.
  nlohmann::json begin = record(3'000'000, 0, 100, 0);
  begin.erase("end");
  CHECK(later(begin) == Times(5, 3'000'000));
}
