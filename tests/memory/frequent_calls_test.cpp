// Which calls of the allocator are passed over, on a stack of our own making.

#include "hpcrun/memory/frequent_calls.h"

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

std::unique_ptr<FrequentCalls> begun() {
  auto calls = std::make_unique<FrequentCalls>();
  calls->begin(true);
  return calls;
}

void count(FrequentCalls& calls, uint64_t bytes, const void* frame, uint32_t times) {
  for (uint32_t i = 0; i < times; ++i) {
    calls.renew();
    calls.count(bytes, frame);
  }
}

}  // namespace

TEST_CASE("what is allocated often from one place is passed over") {
  const auto calls = begun();
  const Call call(0x1000);
  count(*calls, 48, call.frame(), FrequentCalls::kOften - 1);
  CHECK_FALSE(calls->is_frequent(48, call.frame()));
  count(*calls, 48, call.frame(), 70'000);  // more than a count has room for
  CHECK(calls->is_frequent(48, call.frame()));
  CHECK_FALSE(calls->is_frequent(64, call.frame()));
  Call other = call;
  other.words[7] = 0x2000;
  CHECK_FALSE(calls->is_frequent(48, other.frame()));

  calls->begin(true);
  CHECK_FALSE(calls->is_frequent(48, call.frame()));
  count(*calls, 48, call.frame(), FrequentCalls::kOften);
  CHECK(calls->is_frequent(48, call.frame()));
  calls->begin(false);
  CHECK_FALSE(calls->is_frequent(48, call.frame()));
}

TEST_CASE(
    "with threads what is allocated often from one place is passed over while nothing is searched for") {
  const auto calls = begun();
  const Call call(0x1000), other(0x2000);
  count(*calls, 48, call.frame(), FrequentCalls::kOften);
  calls->begin_threads(false);
  CHECK(calls->passes_over(48, call.frame()));
  CHECK_FALSE(calls->passes_over(48, other.frame()));
  // As many as there are, until they come over and over.
  for (uint32_t i = 0; i < FrequentCalls::kOftenWithThreads; ++i) {
    CHECK_FALSE(calls->passes_over(48, other.frame()));
    CHECK_FALSE(calls->count(48, other.frame()));
  }
  CHECK(calls->passes_over(48, other.frame()));
  CHECK_FALSE(calls->is_unheard(1));
  // Those that are not small are all told.
  for (uint32_t i = 0; i < 2 * FrequentCalls::kOften; ++i)
    CHECK_FALSE(calls->count(FrequentCalls::kSmallBytes, call.frame()));
  CHECK_FALSE(calls->passes_over(FrequentCalls::kSmallBytes, call.frame()));

  calls->search(true);
  CHECK_FALSE(calls->passes_over(48, call.frame()));
  calls->begin_threads(false);  // one more thread
  CHECK_FALSE(calls->passes_over(48, call.frame()));
  calls->search(false);
  CHECK(calls->passes_over(48, call.frame()));
}

TEST_CASE("with threads nothing is passed over where somebody looks for contention all the time") {
  const auto calls = begun();
  const Call call(0x1000);
  count(*calls, 48, call.frame(), FrequentCalls::kOften);
  calls->begin_threads(true);
  CHECK_FALSE(calls->passes_over(48, call.frame()));
}

TEST_CASE("large allocations are never passed over") {
  const auto calls = begun();
  const Call call(0x1000);
  count(*calls, FrequentCalls::kLargeBytes, call.frame(), FrequentCalls::kOften);
  CHECK_FALSE(calls->is_frequent(FrequentCalls::kLargeBytes, call.frame()));
  CHECK_FALSE(calls->is_unheard(FrequentCalls::kLargeBytes));
}

TEST_CASE("those between small and large are passed over where they are many, wherever they are made") {
  const auto calls = begun();
  const auto told = [&](uint64_t bytes) {
    for (int64_t n = 0;; ++n) {
      const Call call(0x1000);
      if (calls->is_frequent(bytes, call.frame())) return n;
      const bool is_last = calls->count(bytes, call.frame());
      REQUIRE(is_last == calls->is_frequent(FrequentCalls::kLargeBytes - 1, call.frame()));
    }
  };
  CHECK(told(FrequentCalls::kSmallBytes) == FrequentCalls::kMiddleAtFirst);
  CHECK(told(FrequentCalls::kLargeBytes - 1) == 0);
  // Of the small ones as many are told as without them.
  CHECK_FALSE(calls->is_frequent(48, Call(0x1000).frame()));
  CHECK_FALSE(calls->is_unheard(48));
  calls->renew();
  CHECK(told(FrequentCalls::kLargeBytes - 1) == FrequentCalls::kMiddleASample);
  calls->begin_threads(false);
  CHECK_FALSE(calls->passes_over(FrequentCalls::kSmallBytes, Call(0x1000).frame()));
}

TEST_CASE("callers of the function around the allocator are told apart") {
  const auto calls = begun();
  Call call(0x1000, 0x5000);
  calls->learn_outer(0x1000, Call::kOuterDistance);
  count(*calls, 32, call.frame(), FrequentCalls::kOften);
  CHECK(calls->is_frequent(32, call.frame()));
  call.words[12] = 0x6000;
  CHECK_FALSE(calls->is_frequent(32, call.frame()));
}

TEST_CASE("of ever new calls so many are told at first, and some with each sample") {
  const auto calls = begun();
  uint64_t next = 1;
  const auto told = [&] {
    for (int64_t n = 0;; ++n) {
      const Call call(next++ * 0x1000);
      if (calls->is_frequent(48, call.frame())) return n;
      const bool is_last = calls->count(48, call.frame());
      REQUIRE(is_last == calls->is_frequent(64, call.frame()));
    }
  };
  CHECK(told() == FrequentCalls::kToldAtFirst);
  CHECK(told() == 0);
  calls->renew();
  CHECK(told() == FrequentCalls::kToldASample);
  // Samples in which nothing came are not saved up.
  for (int sample = 0; sample < 10; ++sample) calls->renew();
  CHECK(told() == FrequentCalls::kToldASample);
  // Larger ones are told all the same.
  CHECK_FALSE(calls->is_frequent(FrequentCalls::kSmallBytes, Call(0x1000).frame()));

  calls->begin(true);
  calls->renew();
  CHECK(told() == FrequentCalls::kToldAtFirst);
}

TEST_CASE("calls are unheard where nobody wants to know of any for so few bytes") {
  constexpr uint64_t kSmall = FrequentCalls::kSmallBytes;
  const auto calls = std::make_unique<FrequentCalls>();
  CHECK(calls->is_unheard(kSmall));  // nobody has begun
  calls->begin(true);
  CHECK_FALSE(calls->is_unheard(1));
  const auto spend = [&] {
    for (uint64_t next = 1; !calls->count(48, Call(next * 0x1000).frame()); ++next)
      REQUIRE_FALSE(calls->is_unheard(1));
  };
  spend();
  CHECK(calls->is_unheard(0));
  CHECK(calls->is_unheard(kSmall - 1));
  CHECK_FALSE(calls->is_unheard(kSmall));
  CHECK_FALSE(calls->is_unheard(UINT64_MAX));
  while (!calls->count(kSmall, Call(0x1000).frame())) REQUIRE_FALSE(calls->is_unheard(kSmall));
  CHECK(calls->is_unheard(FrequentCalls::kLargeBytes - 1));
  CHECK_FALSE(calls->is_unheard(FrequentCalls::kLargeBytes));
  calls->renew();
  CHECK_FALSE(calls->is_unheard(1));
  spend();
  CHECK(calls->is_unheard(1));
  SECTION("but where each is asked for") {
    calls->hear_all();
    CHECK_FALSE(calls->is_unheard(1));
    CHECK(calls->is_frequent(48, Call(0x1000).frame()));
    CHECK(calls->count(48, Call(0x1000).frame()));
    CHECK_FALSE(calls->is_unheard(1));
  }
  SECTION("nor once there are several threads") {
    calls->begin_threads(false);
    CHECK_FALSE(calls->is_unheard(1));
    CHECK_FALSE(calls->count(48, Call(0x1000).frame()));
    CHECK_FALSE(calls->is_unheard(1));
  }
}
