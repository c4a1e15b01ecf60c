#include "repair/isolate/controller/benefit.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace hpcrun;
using Verdict = Benefit::Verdict;

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kShare = 500'000;  // half of the CPU time was lost to sharing

// Two threads that work all the time, checked every ten milliseconds as the controller does.
struct Run {
  Benefit benefit;
  IsolationTotals totals;
  uint64_t now_ns = 1'000 * kMs;
  bool is_common = false;

  Run() { benefit.begin(totals, now_ns); }

  // Returns the first verdict other than GoOn within that time. `isolated`, `common`: synchronisations per
  // millisecond of CPU time. `commit_share`: of CPU time.
  Verdict next(uint64_t isolated, uint64_t common, double commit_share, uint64_t within_ms) {
    for (const uint64_t end = now_ns + within_ms * kMs; now_ns < end;) {
      now_ns += 10 * kMs;
      totals.converted_cpu_ns += 20 * kMs;
      totals.meetings += 20 * (is_common ? common : isolated);
      if (!is_common) totals.commit_ns += static_cast<uint64_t>(std::lround(commit_share * 20 * kMs));
      if (!benefit.is_due(now_ns)) continue;
      const Verdict verdict = benefit.look(totals, kShare, now_ns);
      if (verdict == Verdict::GoOn) continue;
      is_common = verdict == Verdict::MakeCommon;
      return verdict;
    }
    return Verdict::GoOn;
  }
};

}  // namespace

TEST_CASE("Threads that seldom meet keep their pages, and are not tried") {
  Run run;
  CHECK(run.next(10, 1'000, 0.01, 60'000) == Verdict::GoOn);
}

TEST_CASE("Commits that take more than half of what was lost cost too much, if they do so for a while") {
  Run run;
  CHECK(run.next(10, 10, 0.24, 10'000) == Verdict::GoOn);
  CHECK(run.next(10, 10, 0.26, 300) == Verdict::GoOn);
  CHECK(run.next(10, 10, 0.26, 300) == Verdict::Lost);
}

TEST_CASE("Threads that meet as often with common pages have gained nothing") {
  for (const uint64_t common : {1'000, 1'500}) {
    Run run;
    CHECK(run.next(1'000, common, 0.1, 200) == Verdict::MakeCommon);
    CHECK(run.next(1'000, common, 0.1, 100) == Verdict::Lost);
  }
}

TEST_CASE("Threads that meet more often with pages of their own keep them, and are tried again ever later") {
  Run run;
  uint64_t before_ns = 0, between_ns = 0;
  for (int trial = 0; trial < 6; ++trial) {
    REQUIRE(run.next(1'000, 600, 0.1, 100'000) == Verdict::MakeCommon);
    if (trial > 1) CHECK(run.now_ns - before_ns > between_ns + between_ns / 2);
    between_ns = run.now_ns - before_ns;
    before_ns = run.now_ns;
    REQUIRE(run.next(1'000, 600, 0.1, 100) == Verdict::IsolateAgain);
  }
}

TEST_CASE("What a trial compared is kept") {
  Run run;
  CHECK(run.benefit.tried().common == 0);
  REQUIRE(run.next(1'000, 600, 0.1, 200) == Verdict::MakeCommon);
  REQUIRE(run.next(1'000, 600, 0.1, 100) == Verdict::IsolateAgain);
  CHECK(run.benefit.tried().isolated == 1'000'000);
  CHECK(run.benefit.tried().common == 600'000);
}

TEST_CASE("Threads that did not run in a trial are not judged by it") {
  Run run;
  REQUIRE(run.next(1'000, 5'000, 0.1, 200) == Verdict::MakeCommon);
  run.now_ns += 100 * kMs;
  CHECK(run.benefit.look(run.totals, kShare, run.now_ns) == Verdict::GoOn);
  run.now_ns += 100 * kMs;
  CHECK(run.benefit.look(run.totals, kShare, run.now_ns) == Verdict::IsolateAgain);
  CHECK(run.benefit.tried().common == 0);
}

TEST_CASE("Each session begins with what was counted before") {
  Run run;
  run.totals.commit_ns += 100'000 * kMs;
  run.totals.meetings += 1'000'000'000;
  run.benefit.begin(run.totals, run.now_ns);
  CHECK(run.next(10, 10, 0.01, 10'000) == Verdict::GoOn);
}
