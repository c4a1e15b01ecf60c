// Ranks compared by everything that can make one slow: many threads, files, devices and their copies, slow
// start of device tasks, sleep that CPU time does not show - and ranks that only lack processors.

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/views/ranks/rank_report.h"
#include "analysis/words/numbers.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/database_builder.h"
#include "tests/report/judged_ranks.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr double kSamplePeriodSeconds = 5e-3;  // 200 samples a second
constexpr int kJobSeeds = 10;
constexpr int kRanks = 16, kRanksOfNode = 4;
constexpr int kSlow = 7;      // rank
constexpr int kSlowNode = 2;  // ranks 8 to 11

bool is_on_slow_node(int rank) {
  return rank / kRanksOfNode == kSlowNode;
}

class CountedJob {
 public:
  explicit CountedJob(unsigned seed, std::vector<std::string> metrics = {"CPUTIME"})
      : metrics_(std::move(metrics)), random_(seed) {
    for (const char* own : {"main", "solve", "serial", "save", "worker"})
      b.function(own, std::string(own) + ".cpp", "/home/me/flow", 1);
    for (const char* call : {"MPI_Allreduce", "MPI_Bcast", "GOMP_barrier", "write", "cudaStreamSynchronize",
                             "cuInit", "pthread_cond_wait"})
      b.function(call, "", "/usr/lib/libothers.so");
    for (const std::string& metric : metrics_) b.metric(metric, "sec");
    b.metric("H_TO_D_BYTES", "bytes");
    b.metric("D_TO_H_BYTES", "bytes");
    run_ = {{"sampling", {{"samples", 9000}}}, {"devices", nlohmann::json::array()}};
    for (const std::string& metric : metrics_)
      run_["sampling"]["metrics"][metric] = {{"requested_hz", 1 / kSamplePeriodSeconds}, {"samples", 9000}};
  }

  uint32_t thread(int rank, int index = 0) {
    const uint32_t thread = b.thread(index, "flow", rank);
    b.database.profiles[thread].id.host = "n" + std::to_string(rank / kRanksOfNode);
    return thread;
  }

  // Adds a random number of samples.
  void spend(uint32_t thread, const std::vector<At>& path, double seconds, uint32_t metric = 0) {
    const double sampled =
        std::poisson_distribution<int>(seconds / kSamplePeriodSeconds)(random_) * kSamplePeriodSeconds;
    if (sampled > 0) b.spend(thread, path, sampled, metric);
  }

  void device(int rank, double kernels_s, double copies_s, double bytes) {
    run_["devices"].push_back({{"rank", rank}, {"kernels_s", kernels_s}, {"copies_s", copies_s}});
    const uint32_t queue = thread(rank, -1);
    b.database.profiles[queue].id.device = 0;
    const auto to_device = static_cast<uint32_t>(metrics_.size());
    b.spend(queue, {{"main", 3}}, bytes / 2, to_device);
    b.spend(queue, {{"main", 3}}, bytes / 2, to_device + 1);
  }

  void took(double seconds) { run_["run"]["program_s"] = seconds; }

  // Must be called once.
  Database database() {
    Database database = b.build();
    set_run(database, run_);
    return database;
  }

  JudgedRanks report() {
    kept_ = database();
    const CallTree tree = build_call_tree(kept_, select(kept_, {}, {}), false);
    return judged_ranks(tree, run_summary(kept_));
  }

  const Database& reported() const { return kept_; }

  DatabaseBuilder b;

 private:
  std::vector<std::string> metrics_;
  std::mt19937 random_;
  nlohmann::json run_;
  Database kept_;
};

void spend_alike(CountedJob& job, uint32_t thread, double waits = 2) {
  job.spend(thread, {{"main", 40}, {"solve", 14}}, 5);
  job.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, waits);
}

// Sixteen threads per rank. All solve; then only the first one computes `serial(rank)` of ten seconds, and
// waits for the rest of them.
CountedJob of_threads(
    unsigned seed, const std::function<double(int)>& serial,
    const std::function<double(int)>& solve = [](int) { return 5; }) {
  CountedJob job(seed);
  for (int rank = 0; rank < kRanks; ++rank)
    for (int index = 0; index < 16; ++index) {
      const uint32_t thread = job.thread(rank, index);
      job.spend(thread, {{"main", 40}, {"solve", 14}}, solve(rank));
      if (index > 0) continue;
      job.spend(thread, {{"main", 41}, {"serial", 15}}, serial(rank));
      job.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, 10 - solve(rank) - serial(rank));
    }
  return job;
}

const Finding& first_of(const JudgedRanks& report) {
  REQUIRE(!report.findings.empty());
  return report.findings.front();
}

bool says(const Finding& finding, const std::string& words) {
  return finding.sentence.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("of many threads it is the one that communicates for which others wait") {
  for (unsigned seed = 0; seed < kJobSeeds; ++seed) {
    const JudgedRanks report = of_threads(seed, [](int rank) { return rank == kSlow ? 4.5 : 1.5; }).report();
    const Finding& first = first_of(report);
    INFO(first.sentence);
    CHECK(first.kind == FindingKind::SlowRank);
    CHECK(first.values.at("first_rank") == kSlow);
    CHECK(first.severity == Severity::High);
    CHECK(says(first, "in the thread that communicates, mostly in serial (serial.cpp:15)"));
    CHECK(says(first, "longer in MPI_Allreduce, called by main (main.cpp:43)"));
  }
}

TEST_CASE("ranks of many threads that are alike give no finding") {
  for (unsigned seed = 0; seed < kJobSeeds; ++seed) {
    const JudgedRanks report = of_threads(seed, [](int) { return 1.5; }).report();
    for (const Finding& finding : report.findings) FAIL_CHECK(finding.sentence);
  }
}

TEST_CASE("waiting of ranks of many threads is blamed on what the latest compute") {
  const auto ramp = [](int rank) { return 4.0 + 3.0 * rank / kRanks; };
  for (unsigned seed = 0; seed < kJobSeeds; ++seed) {
    const JudgedRanks report = of_threads(
                                  seed, [](int) { return 1.5; }, ramp)
                                  .report();
    REQUIRE(report.outliers.empty());
    const Finding& first = first_of(report);
    INFO(first.sentence);
    CHECK(first.kind == FindingKind::LoadImbalance);
    CHECK(says(first, "in MPI_Allreduce, called by main (main.cpp:43), for ranks "));
    CHECK(says(first, "more than the others in solve (solve.cpp:14)"));
    CHECK(report.costs.ranks[report.imbalances.front().late.back()].rank == 15);
  }
}

TEST_CASE("a rank is slow whose other threads compute longer than those of other ranks") {
  CountedJob job(1);
  for (int rank = 0; rank < kRanks; ++rank)
    for (int index = 0; index < 16; ++index) {
      const double longer = rank == kSlow ? 2 : 0;
      const uint32_t thread = job.thread(rank, index);
      job.spend(thread, {{"main", 40}, {"solve", 14}}, index == 0 ? 5 : 5 + longer);
      if (index > 0) continue;
      job.spend(thread, {{"main", 40}, {"solve", 16}, {"GOMP_barrier"}}, 0.1 + longer);
      job.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, 3 - longer);
    }
  const Finding first = first_of(job.report());
  INFO(first.sentence);
  CHECK(first.values.at("first_rank") == kSlow);
  CHECK(says(first, "Rank 7 (node n1) computes 1."));
  CHECK(says(first, "mostly in solve (solve.cpp:14)"));
  CHECK(says(first, "longer in MPI_Allreduce"));
}

TEST_CASE("threads that sleep all the time hide no slow rank, and make none") {
  for (const bool is_one_slow : {true, false})
    for (unsigned seed = 0; seed < kJobSeeds; ++seed) {
      CountedJob job(seed, {"REALTIME"});
      for (int rank = 0; rank < kRanks; ++rank)
        for (int index = 0; index < 16; ++index) {
          const double longer = is_one_slow && rank == kSlow ? 2 : 0;
          const uint32_t thread = job.thread(rank, index);
          if (index > 0) {
            job.spend(thread, {{"worker", 7}, {"pthread_cond_wait"}}, 10);
            continue;
          }
          job.spend(thread, {{"main", 40}, {"solve", 14}}, 5 + longer);
          job.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, 5 - longer);
        }
      const JudgedRanks report = job.report();
      if (is_one_slow) {
        INFO(first_of(report).sentence);
        CHECK(first_of(report).kind == FindingKind::SlowRank);
        CHECK(first_of(report).values.at("first_rank") == kSlow);
        CHECK(says(first_of(report), "mostly in solve (solve.cpp:14)"));
      } else {
        for (const Finding& finding : report.findings) FAIL_CHECK(finding.sentence);
      }
    }
}

TEST_CASE("a rank that is slow for its files, or waits longer for its device, is reported by the call") {
  struct Case {
    const char *call, *does;
  };
  for (const auto& [call, does] :
       {Case{"write", "reads and writes files"}, Case{"cudaStreamSynchronize", "waits for devices"}})
    for (unsigned seed = 0; seed < kJobSeeds; ++seed) {
      CountedJob job(seed);
      for (int rank = 0; rank < kRanks; ++rank) {
        const uint32_t thread = job.thread(rank);
        spend_alike(job, thread, rank == kSlow ? 0.2 : 2.2);
        job.spend(thread, {{"main", 42}, {"save", 15}, {call}}, rank == kSlow ? 2.4 : 0.4);
      }
      const Finding first = first_of(job.report());
      INFO(first.sentence);
      CHECK(first.kind == FindingKind::SlowRank);
      CHECK(first.sentence.starts_with(std::string("Rank 7 (node n1) ") + does));
      CHECK(says(first, std::string("mostly in ") + call + ", called by save (save.cpp:15)"));
      CHECK(says(first, "longer in MPI_Allreduce"));
    }
}

// The ranks of one node execute kernels or copy `times` as long as others.
JudgedRanks with_devices(double kernels, double copies, double bytes) {
  CountedJob job(1);
  for (int rank = 0; rank < kRanks; ++rank) {
    const bool is_slow = is_on_slow_node(rank);
    spend_alike(job, job.thread(rank), is_slow ? 0.2 : 2);
    job.device(rank, is_slow ? 2.5 * kernels : 2.5, is_slow ? 0.9 * copies : 0.9,
               is_slow ? 4e9 * bytes : 4e9);
  }
  return job.report();
}

TEST_CASE("a node whose devices copy slowly is distinguished from one that copies more") {
  const JudgedRanks seated = with_devices(1, 3, 1);
  const Finding badly_seated = first_of(seated);
  CHECK(badly_seated.kind == FindingKind::SlowNode);
  CHECK(
      badly_seated.sentence ==
      "Node n2 (ranks 8-11) copies to and from devices 3.0 x as long as the median (2.70 s, not 900 ms), for "
      "the same number of bytes; the others wait " +
          format_duration(seated.outliers.front().awaited_s) +
          " longer in MPI_Allreduce, called by main (main.cpp:43).");
  CHECK(badly_seated.values.at("bytes_ratio") == Approx(1));
  CHECK(badly_seated.advice.find("badly seated") != std::string::npos);
  for (const Finding& finding : seated.findings) CHECK(finding.kind != FindingKind::LoadImbalance);

  const Finding more = first_of(with_devices(1, 3, 3));
  CHECK(says(more, "for 3.0 x as many bytes"));
}

TEST_CASE("a node whose devices execute kernels slowly is named") {
  const Finding first = first_of(with_devices(2, 1, 1));
  CHECK(first.kind == FindingKind::SlowNode);
  CHECK(first.sentence.starts_with(
      "Node n2 (ranks 8-11) executes kernels 2.0 x as long as the median (5.00 s, not 2.50 s)"));
}

TEST_CASE("a node on which devices take long to be ready is reported with the call, for which others wait") {
  for (unsigned seed = 0; seed < kJobSeeds; ++seed) {
    CountedJob job(seed);
    for (int rank = 0; rank < kRanks; ++rank) {
      const double init = is_on_slow_node(rank) ? 7 : 0.6;
      const uint32_t thread = job.thread(rank);
      job.spend(thread, {{"main", 9}, {"cuInit"}}, init);
      spend_alike(job, thread, 8 - init);
    }
    const Finding first = first_of(job.report());
    INFO(first.sentence);
    CHECK(first.kind == FindingKind::SlowNode);
    CHECK(first.sentence.starts_with("Node n2 (ranks 8-11) waits for devices"));
    CHECK(says(first, "mostly in cuInit, called by main (main.cpp:9)"));
    CHECK(says(first, "longer in MPI_Allreduce"));
  }
}

TEST_CASE("calls that wait for devices, copy or make them ready are the activity of devices") {
  for (const char* call : {"cuInit", "cuCtxCreate_v2", "cuDevicePrimaryCtxRetain", "hipInit",
                           "clGetPlatformIDs", "clCreateContext", "cuMemsetD32_v2", "cuMemFree_v2",
                           "cudaFree", "hipEventSynchronize", "hipMemset", "hipMemcpyAsync"}) {
    CountedJob job(1);
    job.b.function(call, "", "/usr/lib/libdevice.so");
    for (int rank = 0; rank < 2; ++rank) {
      const uint32_t thread = job.thread(rank);
      job.b.spend(thread, {{"main", 9}, {call}}, 0.5);
      job.b.spend(thread, {{"main", 9}, {call}, {"write"}}, 0.5);  // belongs to the call
    }
    INFO(call);
    CHECK(job.report().find(RankQuantity::Device)->mean == Approx(1));
  }
}

// All but one wait for it in MPI_Bcast, which takes no CPU time meanwhile.
CountedJob with_sleep(unsigned seed = 1) {
  CountedJob job(seed);
  for (int rank = 0; rank < kRanks; ++rank) {
    const uint32_t thread = job.thread(rank);
    spend_alike(job, thread, 0.5);
    job.spend(thread, {{"main", 44}, {"MPI_Bcast"}}, rank == kSlow ? 0 : 3);
  }
  return job;
}

TEST_CASE("where the late rank takes no CPU time, the clock is to be measured") {
  CountedJob job = with_sleep();
  job.took(9);
  const JudgedRanks report = job.report();
  CHECK(first_of(report).kind == FindingKind::LoadImbalance);
  CHECK(first_of(report).values.at("first_rank") == kSlow);
  CHECK(first_of(report).advice ==
        "Measure with -e REALTIME: CPU time does not show what this rank waits for meanwhile.");
  CHECK(!report.had_processor);
}

TEST_CASE("ranks that wait are blamed on nobody where they had no processor") {
  CountedJob job = with_sleep();
  job.took(18);
  const JudgedRanks report = job.report();
  CHECK(report.findings.empty());
  REQUIRE(report.had_processor);
  CHECK(*report.had_processor == Approx(0.5).margin(0.05));
  ReportOptions options;
  options.view = ReportView::Ranks;
  CHECK(rendered(job.reported(), options)
            .text.find("note           ranks had a processor for only " +
                       format_percent(*report.had_processor)) != std::string::npos);
  options.format = ReportFormat::Json;
  const auto json = nlohmann::json::parse(rendered(job.reported(), options).text);
  CHECK(json["had_processor"].get<double>() == Approx(*report.had_processor));
  CHECK(json["notes"].size() == 1);

  // A rank that computes longer is slow, whatever processors it has.
  CountedJob slow(1);
  slow.took(18);
  for (int rank = 0; rank < kRanks; ++rank) {
    const double longer = rank == kSlow ? 2 : 0;
    const uint32_t thread = slow.thread(rank);
    slow.spend(thread, {{"main", 40}, {"solve", 14}}, 5 + longer);
    slow.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, 3 - longer);
  }
  CHECK(first_of(slow.report()).values.at("first_rank") == kSlow);
}

TEST_CASE("a rank that is late because others had its processor is not blamed") {
  constexpr uint64_t kBegin = 1'700'000'000'000'000'000, kSample = 5'000'000, kSecond = 1'000'000'000;
  for (const double cpu : {4.0, 6.0}) {  // of six seconds in which the first rank solves
    CountedJob job(1);
    for (int rank = 0; rank < 2; ++rank) {
      const uint32_t thread = job.thread(rank);
      job.b.spend(thread, {{"main", 40}, {"solve", 14}}, rank == 0 ? cpu : 4);
      job.b.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, rank == 0 ? 0.5 : 2.5);
    }
    const auto context = [&](const char* name) {
      for (uint32_t c = 0; c < job.b.database.contexts.size(); ++c)
        if (const uint32_t f = job.b.database.contexts[c].function;
            f != kNone && job.b.database.functions[f].name == name)
          return c;
      return kNone;
    };
    for (int rank = 0; rank < 2; ++rank) {
      const uint64_t waits_from = kBegin + (rank == 0 ? 6 : 4) * kSecond, end = kBegin + 13 * kSecond / 2;
      std::vector<TraceRecord> records;
      for (uint64_t time = kBegin; time < end; time += kSample)
        records.push_back({time, context(time < waits_from ? "solve" : "MPI_Allreduce")});
      records.push_back({end, kNone});
      job.b.database.traces.push_back(trace_of(records));
    }
    const JudgedRanks report = job.report();
    CHECK(report.findings.empty() == (cpu < 6));
  }
}

TEST_CASE("a rank that sleeps does not lack a processor, and is late") {
  CountedJob job(1, {"REALTIME", "CPUTIME"});
  job.b.function("clock_nanosleep", "", "/usr/lib/libc.so.6");
  job.b.function("slow_start", "flow.cpp", "/home/me/flow", 1);
  for (int rank = 0; rank < kRanks; ++rank) {
    const uint32_t thread = job.thread(rank);
    const bool late = rank == kSlow;
    job.spend(thread, {{"main", 40}}, 0.01);
    job.spend(thread, {{"main", 40}}, 0.002, 1);
    if (late) job.spend(thread, {{"main", 41}, {"slow_start", 3}, {"clock_nanosleep"}}, 5);
    job.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, late ? 0.01 : 5);
  }
  const JudgedRanks report = job.report();
  CHECK(!report.had_processor);
  REQUIRE_FALSE(report.findings.empty());
  const Finding& first = first_of(report);
  INFO(first.sentence);
  CHECK(first.values.at("first_rank") == kSlow);
  CHECK(says(first, "slow_start (flow.cpp"));
}

TEST_CASE("of the clock's time, what ranks lack processors for is nobody's fault") {
  for (const bool computes_longer : {true, false}) {
    CountedJob job(1, {"REALTIME", "CPUTIME"});
    for (int rank = 0; rank < kRanks; ++rank) {
      const double longer = rank == kSlow ? 3 : 0;
      const uint32_t thread = job.thread(rank);
      job.spend(thread, {{"main", 40}, {"solve", 14}}, 5 + longer);
      job.spend(thread, {{"main", 40}, {"solve", 14}}, computes_longer ? 2.5 + longer : 2.5, 1);
      job.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, 5 - longer);
      job.spend(thread, {{"main", 43}, {"MPI_Allreduce"}}, 2, 1);
    }
    const JudgedRanks report = job.report();
    INFO(computes_longer);
    if (computes_longer) {
      CHECK(first_of(report).values.at("first_rank") == kSlow);
    } else {
      CHECK(report.findings.empty());
      REQUIRE(report.had_processor);
      CHECK(*report.had_processor == Approx(0.5).margin(0.05));
    }
  }
}

TEST_CASE("of many ranks those are shown that differ most in anything, with what devices did") {
  constexpr int kMany = 80, kOdd = 61;
  CountedJob job(1);
  for (int rank = 0; rank < kMany; ++rank) {
    spend_alike(job, job.thread(rank));
    job.device(rank, 2.5, rank == kOdd ? 2.6 : 0.9, 4e9);
  }
  ReportOptions options;
  options.view = ReportView::Ranks;
  const std::string text = rendered(job.database(), options).text;
  CHECK(text.find("kernels   copies  group\n") != std::string::npos);
  CHECK(text.find("\n    61  n15") != std::string::npos);
  CHECK(text.find("2.50 s   2.60 s  ") != std::string::npos);
  CHECK(text.find("and 48 ranks that differ less") != std::string::npos);
  CHECK(rendered(with_sleep().database(), options).text.find("copies") == std::string::npos);
}
