// What is wrong with ranks is said, and the rest is analyzed.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "analysis/pipeline/pipeline.h"
#include "analysis/pipeline/rank_checks.h"
#include "analysis/pipeline/rank_choice.h"
#include "tests/analysis/pipeline/measured_program.h"

namespace {

using namespace prof;
using namespace prof::test;
namespace fs = std::filesystem;

struct Rank {
  int number = 0;
  std::string environment = "PROF_LAUNCH=4711.0\nPROF_RELEASE=prof 1\nOMPI_COMM_WORLD_SIZE=4\n";
  std::string executable = "/home/me/app";
};

void write(const fs::path& directory, const Rank& rank) {
  hpcrun::ProcessInfo info = process_info();
  info.pid = 1000 + rank.number;
  info.rank = rank.number;
  info.environment = rank.environment.c_str();
  info.executable = rank.executable.c_str();
  Recorder recorder(directory / (std::to_string(rank.number) + ".prof"), info);
  describe(recorder.file, fixture_module());
  recorder.file.write_thread_start(0, 1000 + rank.number, kStartMonotonic, "app");
  sample(recorder.add_thread(), {fixture_places().outer}, kTime, kMillisecond);
  recorder.finish();
}

// What analyzing these ranks says of them.
std::vector<std::string> said_of(const std::vector<Rank>& ranks, const fs::path& directory) {
  for (const Rank& rank : ranks) write(directory, rank);
  const Analysis analysis = analyze({directory});
  CHECK(analysis.database.profiles.size() == ranks.size());
  std::vector<std::string> said;
  for (const std::string& line : analysis.warnings)
    if (line.find("rank") != line.npos) said.push_back(line);
  for (const std::string& line : said) CHECK(analysis.database.run_json.find(line) != std::string::npos);
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
  CHECK(said_of({{0}, {2}}, directory / "") ==
        Lines{"ranks 1 and 3 of 4 left no measurements: died at the start, or measured elsewhere"});
  const std::string chosen = Rank().environment + "PROF_RANKS=50%\n";
  const TemporaryDirectory other;
  CHECK(said_of({{0, chosen}, {2, chosen}}, other / "") == Lines{});
}

TEST_CASE("Ranks of two launches, of another program and of another prof are named") {
  const TemporaryDirectory launches;
  const std::string other = "PROF_LAUNCH=4712.0\nPROF_RELEASE=prof 1\nOMPI_COMM_WORLD_SIZE=4\n";
  CHECK(said_of({{0}, {1}, {2, other}, {3, other}}, launches / "") ==
        Lines{"measurements of 2 launches are analyzed as one run: 4711.0 (ranks 0-1), 4712.0 (ranks 2-3); "
              "analyze each in a directory of its own"});
  const TemporaryDirectory programs;
  CHECK(said_of({{0}, {1}, {2, Rank().environment, "/tmp/app"}, {3}}, programs / "") ==
        Lines{"rank 2 ran another program than the others: /tmp/app"});
  const TemporaryDirectory releases;
  CHECK(said_of({{0}, {1}, {2}, {3, "PROF_LAUNCH=4711.0\nPROF_RELEASE=prof 2\n"}}, releases / "") ==
        Lines{"rank 3 was measured by another prof than the others: prof 2, not prof 1"});
}

TEST_CASE("How ranks ended is what their launchers saw") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "run-1.json") << R"({"exit_status": 137, "signal": 9, "cpu_s": 2})";
  std::ofstream(directory / "run-2.json") << R"({"exit_status": 1, "signal": 0, "cpu_s": 3})";
  std::ofstream(directory / "run-x.json") << R"({"exit_status": 1})";
  CHECK(said_of({{0}, {1}, {2}, {3}}, directory / "") ==
        Lines{"rank 2 ended with exit status 1", "rank 1 was killed by SIGKILL"});
  CHECK(analyze({directory / ""}).database.run_json.find("\"cpu_s\": 5.0") != std::string::npos);
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
