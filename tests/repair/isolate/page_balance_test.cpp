#include "repair/isolate/controller/page_balance.h"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

using namespace hpcrun;

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kGood = 0x10'000, kBad = 0x20'000, kThird = 0x30'000;

std::map<uint64_t, uint64_t> ticks;  // of each page
uint64_t ticks_of(uint64_t page) noexcept {
  return ticks[page];
}

// Two threads that work all the time, checked every ten milliseconds as the controller does.
struct Run {
  PageBalance balance;
  IsolationTotals totals;
  uint64_t now_ns = 1'000 * kMs;
  std::vector<PageBalance::Page> pages;
  std::map<uint64_t, uint64_t> commit_us;  // per ten milliseconds, of an isolated page
  uint64_t common = 0;                     // the page on trial
  uint64_t pace = 10;                      // synchronisations per millisecond of CPU time
  std::map<uint64_t, uint64_t> pace_without;

  explicit Run(std::vector<PageBalance::Page> those) : pages(std::move(those)) {
    ticks.clear();
    balance.begin(totals);
  }

  void remove(uint64_t page) {
    std::erase_if(pages, [page](const PageBalance::Page& one) { return one.page == page; });
  }

  PageBalance::Verdict next(uint64_t within_ms) {
    for (const uint64_t end = now_ns + within_ms * kMs; now_ns < end;) {
      now_ns += 10 * kMs;
      totals.converted_cpu_ns += 20 * kMs;
      totals.meetings += 20 * (common ? pace_without[common] : pace);
      for (const PageBalance::Page& one : pages) {
        if (one.page == common) continue;
        totals.commit_ns += 1'000 * commit_us[one.page];
        ticks[one.page] += 3 * commit_us[one.page];
      }
      const auto count = static_cast<uint32_t>(pages.size());
      if (!balance.is_due(pages.data(), count, now_ns)) continue;
      const PageBalance::Verdict verdict = balance.look(pages.data(), count, totals, ticks_of, now_ns);
      if (verdict.is == Benefit::Verdict::GoOn) continue;
      common = verdict.is == Benefit::Verdict::MakeCommon ? verdict.page : 0;
      return verdict;
    }
    return {};
  }
};

}  // namespace

TEST_CASE("A page whose commits cost too much is given back, and one beside it stays") {
  // Together they cost 6 of 20 ms, less than half of the 70 % that were lost.
  Run run({{kGood, 600'000}, {kBad, 100'000}});
  run.commit_us = {{kGood, 100}, {kBad, 5'900}};
  const PageBalance::Verdict verdict = run.next(1'000);
  CHECK(verdict.page == kBad);
  CHECK(verdict.is == Benefit::Verdict::Lost);
  run.remove(kBad);
  CHECK(run.next(60'000).is == Benefit::Verdict::GoOn);
}

TEST_CASE("A good page stays although all together cost too much") {
  Run run({{kBad, 20'000}, {kGood, 300'000}, {kThird, 20'000}});
  run.commit_us = {{kGood, 1'000}, {kBad, 4'000}, {kThird, 4'000}};
  std::vector<uint64_t> lost;
  for (int i = 0; i < 2; ++i) {
    const PageBalance::Verdict verdict = run.next(1'000);
    REQUIRE(verdict.is == Benefit::Verdict::Lost);
    lost.push_back(verdict.page);
    run.remove(verdict.page);
  }
  CHECK(lost == std::vector{kBad, kThird});
  CHECK(run.next(60'000).is == Benefit::Verdict::GoOn);
}

TEST_CASE("Pages are on trial one after the other, and who gains nothing goes alone") {
  Run run({{kGood, 400'000}, {kBad, 400'000}});
  run.pace = 1'000;
  run.pace_without = {{kGood, 500}, {kBad, 1'000}};
  REQUIRE(run.next(1'000).is == Benefit::Verdict::MakeCommon);
  CHECK(run.common == kGood);
  PageBalance::Verdict verdict = run.next(1'000);
  CHECK(verdict.is == Benefit::Verdict::IsolateAgain);
  CHECK(verdict.page == kGood);
  CHECK(run.balance.tried().common == 500'000);
  REQUIRE(run.next(1'000).is == Benefit::Verdict::MakeCommon);
  CHECK(run.common == kBad);
  verdict = run.next(1'000);
  CHECK(verdict.is == Benefit::Verdict::Lost);
  CHECK(verdict.page == kBad);
}

TEST_CASE("A page that is given back while it is on trial makes room for the next") {
  Run run({{kGood, 400'000}, {kBad, 400'000}});
  run.pace = 1'000;
  run.pace_without = {{kGood, 500}, {kBad, 500}};
  REQUIRE(run.next(1'000).is == Benefit::Verdict::MakeCommon);
  const uint64_t first = run.common;
  run.remove(first);
  const PageBalance::Verdict verdict = run.next(100);
  CHECK(verdict.is == Benefit::Verdict::IsolateAgain);
  REQUIRE(run.next(1'000).is == Benefit::Verdict::MakeCommon);
  CHECK(run.common != first);
}

TEST_CASE("Conversions are paid by pages as these gain by them") {
  Run run({{kGood, 300'000}, {kBad, 300'000}});
  for (int i = 0; i < 20; ++i) {
    run.totals.conversion_ns += 300'000;  // of 20 ms: both conversions 3 %, of 60 % that were lost
    CHECK(run.next(10).is == Benefit::Verdict::GoOn);
  }
}
