// Which calls of the allocator are skipped, on a synthetic stack.

#include "hpcrun/heap/frequent_calls.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>

using namespace hpcrun;

namespace {

// A call of the allocator whose frame begins at word 8.
struct Call {
  alignas(4096) uint64_t words[64] = {};
  explicit Call(uint64_t caller, uint64_t outer = 0) {
    words[7] = caller;
    words[12] = outer;
  }
  const void* frame() const { return words + 8; }
  static constexpr uint64_t kOuterDistance = 4 * sizeof(uint64_t);
};

std::unique_ptr<FrequentCalls> begun(Reports reports = Reports::AtNeed) {
  auto calls = std::make_unique<FrequentCalls>();
  calls->begin(reports);
  return calls;
}

void count(FrequentCalls& calls, uint64_t bytes, const void* frame, uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) {
    calls.renew();
    calls.count(bytes, frame);
  }
}

// Returns how many of a series of new calls are reported until they are skipped. Calls that share a place
// with a frequent one are omitted.
int reported(FrequentCalls& calls, uint64_t bytes) {
  static uint64_t next = 1;
  for (int n = 0;;) {
    const Call call(next++ * 0x1000);
    if (calls.is_frequent(bytes, call.frame())) continue;
    if (calls.passes_over(bytes, call.frame())) return n;
    calls.count(bytes, call.frame());
    ++n;
  }
}

constexpr uint64_t kSmall = FrequentCalls::kSmallBytes, kLarge = FrequentCalls::kLargeBytes;

}  // namespace

TEST_CASE("what is allocated often from one place is passed over") {
  const auto calls = begun();
  const Call call(0x1000);
  count(*calls, 48, call.frame(), FrequentCalls::kOften - 1);
  CHECK_FALSE(calls->is_frequent(48, call.frame()));
  count(*calls, 48, call.frame(), 70'000);  // more than a counter can hold
  CHECK(calls->is_frequent(48, call.frame()));
  CHECK_FALSE(calls->is_frequent(64, call.frame()));
  Call other = call;
  other.words[7] = 0x2000;
  CHECK_FALSE(calls->is_frequent(48, other.frame()));

  calls->begin(Reports::AtNeed);
  CHECK_FALSE(calls->is_frequent(48, call.frame()));
  count(*calls, 48, call.frame(), FrequentCalls::kOften);
  CHECK(calls->is_frequent(48, call.frame()));
  calls->begin(Reports::All);
  CHECK_FALSE(calls->is_frequent(48, call.frame()));
}

TEST_CASE(
    "with threads what is allocated often from one place is passed over while nothing is searched for") {
  const auto calls = begun();
  const Call call(0x1000), other(0x2000);
  count(*calls, 48, call.frame(), FrequentCalls::kOften);
  calls->begin_threads(false);
  CHECK(calls->passes_over(48, call.frame()));
  for (uint32_t i = 0; i < FrequentCalls::kOftenWithThreads; ++i) {
    CHECK_FALSE(calls->passes_over(48, other.frame()));
    calls->count(48, other.frame());
  }
  CHECK(calls->passes_over(48, other.frame()));
  CHECK_FALSE(calls->is_unheard(1));

  calls->search(true);
  calls->renew();
  CHECK_FALSE(calls->passes_over(48, call.frame()));
  calls->begin_threads(false);  // a second thread
  CHECK_FALSE(calls->passes_over(48, call.frame()));
  calls->search(false);
  CHECK(calls->passes_over(48, call.frame()));
}

TEST_CASE(
    "while contention is searched for frequent calls are passed over once half of the reports is used") {
  const auto calls = begun(Reports::Searching);
  calls->begin_threads(true);
  const Call call(0x1000);
  count(*calls, 48, call.frame(), FrequentCalls::kOften);
  while (!calls->is_unheard(1)) calls->count(48, call.frame());
  CHECK(calls->has_passed_over());
  calls->renew();
  int32_t frequent = 0;
  for (; !calls->passes_over(48, call.frame()); ++frequent) calls->count(48, call.frame());
  CHECK(frequent == FrequentCalls::kSearch.reports / 2);
  CHECK(reported(*calls, 48) == FrequentCalls::kSearch.reports - frequent);
  CHECK(calls->is_unheard(1));
}

TEST_CASE("large allocations are never passed over") {
  const auto calls = begun();
  const Call call(0x1000);
  count(*calls, kLarge, call.frame(), 2 * FrequentCalls::kOften);
  CHECK_FALSE(calls->passes_over(kLarge, call.frame()));
  CHECK_FALSE(calls->is_unheard(kLarge));
}

TEST_CASE("those between small and large have a budget of their own, wherever they are made") {
  const auto calls = begun();
  CHECK(reported(*calls, kSmall) == FrequentCalls::kAloneFirst.middle_reports);
  CHECK(reported(*calls, kLarge - 1) == 0);
  CHECK_FALSE(calls->passes_over(48, Call(0x1000).frame()));
  CHECK_FALSE(calls->is_unheard(48));
  calls->renew();
  CHECK(reported(*calls, kLarge - 1) == FrequentCalls::kAlone.middle_reports);
  calls->begin_threads(false);
  CHECK(reported(*calls, kSmall) == FrequentCalls::kAtRestFirst.middle_reports);
}

TEST_CASE("callers of the function around the allocator are distinguished") {
  const auto calls = begun();
  Call call(0x1000, 0x5000);
  calls->learn_outer(0x1000, Call::kOuterDistance);
  count(*calls, 32, call.frame(), FrequentCalls::kOften);
  CHECK(calls->is_frequent(32, call.frame()));
  call.words[12] = 0x6000;
  CHECK_FALSE(calls->is_frequent(32, call.frame()));
}

TEST_CASE("of ever new calls so many are reported at first, and some with each sample") {
  const auto calls = begun();
  CHECK(reported(*calls, 48) == FrequentCalls::kAloneFirst.reports);
  CHECK(reported(*calls, 48) == 0);
  // Unused reports of samples are not accumulated.
  for (int sample = 0; sample < 10; ++sample) calls->renew();
  CHECK(reported(*calls, 48) == FrequentCalls::kAlone.reports);
  // Larger ones are still reported.
  CHECK_FALSE(calls->passes_over(kSmall, Call(0x1000).frame()));

  calls->begin(Reports::AtNeed);
  calls->renew();
  CHECK(reported(*calls, 48) == FrequentCalls::kAloneFirst.reports);
  calls->begin_threads(false);
  CHECK(reported(*calls, 48) == FrequentCalls::kAtRestFirst.reports);
  calls->renew();
  CHECK(reported(*calls, 48) == FrequentCalls::kAtRest.reports);
  calls->begin_thread();
  CHECK(reported(*calls, 48) == FrequentCalls::kAtRestFirst.reports);
  calls->search(true);
  calls->renew();
  CHECK(reported(*calls, 48) == FrequentCalls::kSearch.reports);
}

TEST_CASE("frequent calls are looked up until the budget for that is used up") {
  const auto calls = begun();
  const Call call(0x1000);
  count(*calls, 48, call.frame(), FrequentCalls::kOften);
  calls->begin_threads(false);
  CHECK_FALSE(calls->has_passed_over());
  int32_t looked_up = 0;
  for (; !calls->is_unheard(1); ++looked_up) REQUIRE(calls->passes_over(48, call.frame()));
  CHECK(looked_up == FrequentCalls::kAtRestFirst.lookups);
  CHECK_FALSE(calls->has_passed_over());  // the search is off
  CHECK_FALSE(calls->is_unheard(kSmall));
  calls->renew();
  CHECK_FALSE(calls->is_unheard(1));
}

TEST_CASE("calls are unheard where nobody wants to know of any for so few bytes") {
  const auto calls = std::make_unique<FrequentCalls>();
  CHECK(calls->is_unheard(kSmall));  // no thread has begun
  calls->begin(Reports::AtNeed);
  CHECK_FALSE(calls->is_unheard(1));
  CHECK(reported(*calls, 48) > 0);
  CHECK(calls->is_unheard(0));
  CHECK(calls->is_unheard(kSmall - 1));
  CHECK_FALSE(calls->is_unheard(kSmall));
  CHECK_FALSE(calls->is_unheard(UINT64_MAX));
  while (!calls->is_unheard(kSmall)) calls->count(kSmall, Call(0x1000).frame());
  CHECK(calls->is_unheard(kLarge - 1));
  CHECK_FALSE(calls->is_unheard(kLarge));
  calls->renew();
  CHECK_FALSE(calls->is_unheard(1));
  CHECK(reported(*calls, 48) > 0);
  CHECK(calls->is_unheard(1));
  SECTION("but where each is asked for") {
    calls->hear_all();
    CHECK_FALSE(calls->is_unheard(1));
    CHECK(calls->passes_over(48, Call(0x1000).frame()));
    calls->count(48, Call(0x1000).frame());
    CHECK_FALSE(calls->is_unheard(1));
  }
  SECTION("nor where each is to be reported") {
    calls->begin(Reports::All);
    CHECK(calls->has_reports(48));
    for (uint64_t next = 1; next < 200'000; ++next) calls->count(48, Call(next * 0x1000).frame());
    CHECK_FALSE(calls->has_reports(48));
    CHECK(calls->has_reports(FrequentCalls::kLargeBytes));
    CHECK_FALSE(calls->is_unheard(1));
    CHECK_FALSE(calls->passes_over(48, Call(0x1000).frame()));
  }
}
