// Ranks compared: synthetic runs with random samples, in which one rank is slow, one is late at a collective
// operation, a node is slow, or none of these.

#include <catch2/catch.hpp>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "analysis/findings/all_findings.h"
#include "analysis/views/ranks/format_ranks.h"
#include "analysis/views/ranks/rank_report.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/database_builder.h"
#include "tests/report/judged_ranks.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr double kPeriodSeconds = 5e-3;  // 200 samples a second
constexpr int kSeeds = 20;

struct Job {
  int ranks = 16;
  int ranks_of_node = 4;
  int slow_rank = -1;    // computes 1.6 times as long in solve()
  int slow_node = -1;    // the same for all its ranks
  int late_rank = -1;    // reads its part in load() before the collective operation
  bool is_ramp = false;  // each rank has more to do in solve() than the previous one
};

// Returns what a sampler measures for a cost: a random number of samples.
double sampled(double seconds, std::mt19937& random) {
  return std::poisson_distribution<int>(seconds / kPeriodSeconds)(random) * kPeriodSeconds;
}

Database run_of(const Job& job, unsigned seed) {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/flow", 3);
  b.function("solve", "solve.cpp", "/home/me/flow", 10);
  b.function("halo", "halo.cpp", "/home/me/flow", 20);
  b.function("load", "load.cpp", "/home/me/flow", 30);
  b.function("MPI_Allreduce", "", "/usr/lib/libmpi.so");
  b.function("opal_progress", "", "/usr/lib/libopen-pal.so");
  b.metric("CPUTIME", "sec");
  std::mt19937 random(seed);
  std::vector<double> solve, load;
  double slowest = 0;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const bool is_slow = rank == job.slow_rank || rank / job.ranks_of_node == job.slow_node;
    solve.push_back(is_slow ? 4.8 : 3.0);
    if (job.is_ramp) solve.back() = 1.5 + 3.0 * rank / job.ranks;
    load.push_back(rank == job.late_rank ? 2.0 : 0.2);
    slowest = std::max(slowest, solve.back() + load.back());
  }
  for (int rank = 0; rank < job.ranks; ++rank) {
    const auto r = static_cast<size_t>(rank);
    const uint32_t thread = b.thread(0, "flow", rank);
    b.database.profiles[thread].id.host = "n" + std::to_string(rank / job.ranks_of_node);
    b.spend(thread, {{"main", 40}, {"solve", 14}}, sampled(solve[r], random));
    b.spend(thread, {{"main", 41}, {"load", 33}}, sampled(load[r], random));
    b.spend(thread, {{"main", 42}, {"halo", 22}}, sampled(0.5, random));
    b.spend(thread, {{"main", 43}, {"MPI_Allreduce"}, {"opal_progress"}},
            sampled(0.2 + slowest - solve[r] - load[r], random));
  }
  Database database = b.build();
  set_run_text(
      database,
      R"({"sampling": {"samples": 9000, "metrics": {"CPUTIME": {"requested_hz": 200, "samples": 9000}}}})");
  return database;
}

JudgedRanks report_of(const Database& database) {
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  return judged_ranks(tree, run_summary(database));
}

}  // namespace

TEST_CASE("a slow rank is the first finding, with what it does and who waits for it") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const JudgedRanks report = report_of(run_of({.slow_rank = 7}, seed));
    INFO("seed " << seed);
    REQUIRE(!report.findings.empty());
    const Finding& first = report.findings.front();
    INFO(first.sentence);
    CHECK(first.kind == FindingKind::SlowRank);
    CHECK(first.severity >= Severity::Medium);
    CHECK(first.values.at("first_rank") == 7);
    CHECK(first.sentence.starts_with("Rank 7 (node n1) computes 1."));
    CHECK(first.sentence.find("mostly in solve (solve.cpp:14)") != std::string::npos);
    CHECK(first.sentence.find("longer in MPI_Allreduce, called by main (main.cpp:43)") != std::string::npos);
    CHECK(report.imbalances.empty());
  }
}

TEST_CASE("a rank that comes late to a collective operation is the first finding, with where it was") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const JudgedRanks report = report_of(run_of({.late_rank = 3}, seed));
    INFO("seed " << seed);
    REQUIRE(!report.findings.empty());
    const Finding& first = report.findings.front();
    INFO(first.sentence);
    CHECK(first.values.at("first_rank") == 3);
    CHECK(first.sentence.find("in load (load.cpp:33)") != std::string::npos);
    CHECK(first.sentence.find("MPI_Allreduce, called by main (main.cpp:43)") != std::string::npos);
    REQUIRE(first.contexts.size() == 2);
    CHECK(first.contexts[1].role == "waits");
    CHECK(first.contexts[1].frames.back().function == "main");
  }
}

TEST_CASE("where many ranks are late by and by, waiting is blamed on what the latest do") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const JudgedRanks report = report_of(run_of({.is_ramp = true}, seed));
    INFO("seed " << seed);
    REQUIRE(report.outliers.empty());
    REQUIRE(report.findings.size() == 1);
    const Finding& first = report.findings.front();
    INFO(first.sentence);
    CHECK(first.kind == FindingKind::LoadImbalance);
    CHECK(std::ranges::find(first.contexts, true, &FindingContext::is_subject)->role == "late");
    CHECK(first.sentence.find("in MPI_Allreduce, called by main (main.cpp:43), for ranks ") !=
          std::string::npos);
    CHECK(first.sentence.find("more than the others in solve (solve.cpp:14)") != std::string::npos);
    CHECK(report.costs.ranks[report.imbalances.front().late.back()].rank == 15);
  }
}

TEST_CASE("a node of which all ranks are slow is reported as one") {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const JudgedRanks report = report_of(run_of({.slow_node = 2}, seed));
    INFO("seed " << seed);
    REQUIRE(!report.findings.empty());
    const Finding& first = report.findings.front();
    INFO(first.sentence);
    CHECK(first.kind == FindingKind::SlowNode);
    CHECK(first.sentence.starts_with("Node n2 (ranks 8-11) computes 1."));
  }
}

TEST_CASE("ranks that are alike but for chance give no finding, and are one group") {
  for (const int ranks : {2, 3, 4, 16, 500})
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      const JudgedRanks report = report_of(run_of({.ranks = ranks}, seed));
      INFO(ranks << " ranks, seed " << seed);
      for (const Finding& finding : report.findings) FAIL_CHECK(finding.sentence);
      CHECK(report.clusters.size() == 1);
    }
}

TEST_CASE("one of two ranks can be slow") {
  const JudgedRanks report = report_of(run_of({.ranks = 2, .slow_rank = 1}, 1));
  REQUIRE(!report.findings.empty());
  CHECK(report.findings.front().sentence.starts_with("Rank 1 computes 1."));
}

// Four ranks in four steps. Each solves for a second, and one loads for another second while the others wait
// for it. At the end all wait for half a second. late_rank: which one, or -1 for each in turn. A rank had the
// share `cpu` of its time on a processor.
Database in_steps(int late_rank, double cpu = 1) {
  constexpr int kRanks = 4, kSteps = 4;
  constexpr uint64_t kBegin = 1'700'000'000'000'000'000, kSample = 5'000'000, kSecond = 1'000'000'000;
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/flow", 3);
  b.function("solve", "solve.cpp", "/home/me/flow", 10);
  b.function("load", "load.cpp", "/home/me/flow", 30);
  b.function("MPI_Allreduce", "", "/usr/lib/libmpi.so");
  b.metric("CPUTIME", "sec");
  const auto late_in = [&](int step) { return late_rank < 0 ? step : late_rank; };
  for (int rank = 0; rank < kRanks; ++rank) {
    const uint32_t thread = b.thread(0, "flow", rank);
    int turns = 0;
    for (int step = 0; step < kSteps; ++step) turns += late_in(step) == rank;
    b.spend(thread, {{"main", 40}, {"solve", 14}}, kSteps * cpu);
    if (turns > 0) b.spend(thread, {{"main", 41}, {"load", 33}}, turns * cpu);
    b.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, (kSteps - turns + 0.5) * cpu);
  }
  Database database = b.build();
  const auto context = [&](const char* function) {
    for (uint32_t c = 0; c < database.contexts.size(); ++c)
      if (const uint32_t f = database.contexts[c].function;
          f != kNone && database.functions[f].name == function)
        return c;
    return kNone;
  };
  const uint32_t solve = context("solve"), load = context("load"), wait = context("MPI_Allreduce");
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<TraceRecord> records;
    uint64_t time = kBegin;
    const auto stay = [&](uint32_t in, uint64_t ns) {
      for (const uint64_t end = time + ns; time < end; time += kSample) records.push_back({time, in});
    };
    for (int step = 0; step < kSteps; ++step) {
      stay(solve, kSecond);
      stay(late_in(step) == rank ? load : wait, kSecond);
    }
    stay(wait, kSecond / 2);
    records.push_back({time, kNone});
    database.traces.push_back(trace_of(records));
  }
  set_run_text(
      database,
      R"({"sampling": {"samples": 6800, "metrics": {"CPUTIME": {"requested_hz": 200, "samples": 6800}}}})");
  return database;
}

TEST_CASE("waiting for ranks that are late alternately is blamed on what they do meanwhile") {
  const Database database = in_steps(-1);
  const JudgedRanks report = report_of(database);
  CHECK(report.outliers.empty());
  CHECK(report.imbalances.empty());
  REQUIRE(report.late);
  const LateRanks& late = *report.late;
  CHECK(late.waited_s == Approx(14));
  CHECK(late.blamed_s == Approx(12));
  CHECK(late.nobody_s == Approx(2));
  REQUIRE(late.locations.size() == 1);
  CHECK(late.locations[0].seconds == Approx(12));
  CHECK(late.by_rank.size() == 4);
  for (const double blame : late.by_rank) CHECK(blame == Approx(3));
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].kind == FindingKind::LateByTurns);
  CHECK(report.findings[0].sentence ==
        "Ranks wait 3.00 s on average (35 % of their time) for others that are late alternately, and meanwhile "
        "are in load "
        "(load.cpp:33) (100 %).");

  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  for (const int jobs : {1, 2, 7}) {
    const auto again = late_ranks(tree, report.costs, kPeriodSeconds, jobs);
    REQUIRE(again);
    CHECK(again->blamed_s == late.blamed_s);
    CHECK(again->by_rank == late.by_rank);
    CHECK(again->locations[0].seconds == late.locations[0].seconds);
  }

  ReportOptions options;
  options.view = ReportView::Ranks;
  options.format = ReportFormat::Json;
  const auto json = nlohmann::json::parse(rendered(database, options).text);
  CHECK(json["late"]["blamed_s"].get<double>() == Approx(12));
  CHECK(json["late"]["places"][0]["place"] == "load (load.cpp:33)");
  CHECK(json["ranks"][2]["late_s"].get<double>() == Approx(3));
  options.format = ReportFormat::Csv;
  CHECK(rendered(database, options).text.find(",3.000000,0\n") != std::string::npos);
}

TEST_CASE("who is late is reported once, and not of ranks without processors or traces") {
  const JudgedRanks slow = report_of(in_steps(2));
  REQUIRE(!slow.findings.empty());
  CHECK(slow.findings[0].values.at("first_rank") == 2);
  for (const Finding& finding : slow.findings) CHECK(finding.kind != FindingKind::LateByTurns);

  CHECK(!report_of(in_steps(-1, 0.5)).late);

  Database without = in_steps(-1);
  without.traces.clear();
  const JudgedRanks report = report_of(without);
  CHECK(!report.late);
  CHECK(report.would_need_traces);
  CHECK(report.findings.empty());
}

TEST_CASE("statistics are over ranks, and activities add up to the time") {
  const JudgedRanks report = report_of(run_of({.slow_rank = 7}, 1));
  const RankStatistics& time = *report.find(RankQuantity::Time);
  double sum = 0;
  for (const RankCost& rank : report.costs.ranks) {
    sum += rank.seconds;
    double parts = 0;
    for (const double part : rank.by_activity) parts += part;
    CHECK(parts == Approx(rank.seconds));
    CHECK(rank.node == "n" + std::to_string(rank.rank / 4));
  }
  CHECK(time.mean == Approx(sum / 16));
  CHECK(time.minimum <= time.median);
  CHECK(time.imbalance() == Approx(time.maximum / time.mean - 1));
  CHECK(report.find(RankQuantity::Compute)->maximum == Approx(5.5).margin(0.6));
}

TEST_CASE("ranks that behave alike are groups, the larger ones first") {
  const JudgedRanks report = report_of(run_of({.slow_node = 0}, 3));
  REQUIRE(report.clusters.size() == 2);
  CHECK(report.clusters[0].ranks.size() == 12);
  CHECK(report.clusters[1].ranks == std::vector<uint32_t>{0, 1, 2, 3});
  CHECK(report.cluster_of[0] == 1);
  CHECK(report.cluster_of[15] == 0);
}

TEST_CASE("values that are computed as they are asked for give the same report") {
  const Database kept = run_of({.slow_rank = 7}, 5);
  Database computed = kept;
  for (Profile& profile : computed.profiles) profile.values.clear();
  computed.values.first = {0, 3, 10, 16};
  computed.values.compute = [&](const Database&, size_t piece) {
    std::vector<std::vector<ProfileValue>> all;
    for (uint32_t p = computed.values.first[piece]; p < computed.values.first[piece + 1]; ++p)
      all.push_back(kept.profiles[p].values);
    return all;
  };
  CHECK(report_of(computed).findings.front().sentence == report_of(kept).findings.front().sentence);
}

TEST_CASE("with one thread given, ranks are compared on no other") {
  const Database kept = in_steps(-1);
  std::mutex lock;
  std::set<std::thread::id> of_values, of_traces;
  const auto note = [&](std::set<std::thread::id>& threads) {
    const std::lock_guard guard(lock);
    threads.insert(std::this_thread::get_id());
  };
  Database noted = kept;
  for (Profile& profile : noted.profiles) profile.values.clear();
  noted.values.first = {0, 1, 2, 3, 4};
  noted.values.compute = [&](const Database&, size_t piece) {
    note(of_values);
    return std::vector<std::vector<ProfileValue>>{kept.profiles[piece].values};
  };
  for (TraceSource& trace : noted.traces)
    trace = [&note, &of_traces, read = trace](std::vector<TraceRecord>& block) mutable {
      note(of_traces);
      return read(block);
    };
  const CallTree tree = build_call_tree(noted, select(noted, {}, {}), false);
  REQUIRE(rank_report(tree, run_summary(noted), {.jobs = 1}).late);
  const std::set own = {std::this_thread::get_id()};
  CHECK(of_values == own);
  CHECK(of_traces == own);
}

TEST_CASE("the summary has what the ranks say") {
  const Database database = run_of({.slow_rank = 7}, 2);
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  const std::vector<Finding> all = all_findings(tree, run_summary(database), StallOptions{});
  CHECK(
      std::ranges::any_of(all, [](const Finding& finding) { return finding.kind == FindingKind::SlowRank; }));
}

TEST_CASE("ranks as text, JSON and CSV") {
  const Database database = run_of({.slow_rank = 7}, 2);
  ReportOptions options;
  options.view = ReportView::Ranks;
  const std::string text = rendered(database, options).text;
  CHECK(text.starts_with("ranks          16 ranks on 4 nodes, by CPUTIME\n"));
  CHECK(text.find("  * Rank 7 (node n1) computes 1.") != std::string::npos);
  options.format = ReportFormat::Json;
  const auto json = nlohmann::json::parse(rendered(database, options).text);
  CHECK(json["view"] == "ranks");
  CHECK(json["ranks"].size() == 16);
  CHECK(json["ranks"][7]["rank"] == 7);
  CHECK(json["ranks"][7]["node"] == "n1");
  CHECK(json["findings"][0]["kind"] == "slow-rank");
  CHECK(json["groups"][0]["ranks"].size() == 15);
  options.format = ReportFormat::Csv;
  const std::string csv = rendered(database, options).text;
  CHECK(std::ranges::count(csv, '\n') == 17);
}

TEST_CASE("a run without ranks is refused with what to do") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{"main", 1}}, 1);
  const Database database = b.build();
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  CHECK(reason_no_ranks(tree)->find("mpirun -n N prof run ./app") != std::string::npos);
}

TEST_CASE("ranks are listed as ranges") {
  CHECK(format_ranks({7}) == "7");
  CHECK(format_ranks({0, 1, 2, 9}) == "0-2 and 9");
  CHECK(format_ranks({0, 2, 4, 6}, 2) == "0, 2 and 2 more");
}
