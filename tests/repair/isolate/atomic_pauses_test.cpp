#include "repair/isolate/atomic_pauses.h"

#include <catch2/catch.hpp>

using namespace hpcrun;

namespace {

constexpr uint64_t kMs = 1'000'000, kRound = 10 * kMs;

// A program's threads, looked at in rounds.
struct Rounds {
  AtomicPauses pauses;
  uint64_t now_ns = 5'000 * kMs;

  // How long until pages are private.
  uint64_t until_private(bool all_are_twins = true) {
    const uint64_t begin = now_ns;
    for (; !pauses.may_be_private(now_ns, all_are_twins); now_ns += kRound)
      REQUIRE(now_ns - begin < 1'000 * kMs);
    return now_ns - begin;
  }
  // How long it rests after an atomic instruction; 0: it is over.
  uint64_t rest() {
    const uint64_t begin = now_ns;
    if (!pauses.rest(now_ns)) return 0;
    while (pauses.is_resting(now_ns)) now_ns += kRound;
    pauses.begin(now_ns);
    return now_ns - begin;
  }
};

}  // namespace

TEST_CASE("pages are private when all threads have been watched for a while") {
  Rounds rounds;
  rounds.pauses.begin(rounds.now_ns);
  CHECK(rounds.until_private() == AtomicPauses::kWatchNs);

  rounds.pauses.begin(rounds.now_ns);
  for (int round = 0; round < 5; ++round) {
    CHECK_FALSE(rounds.pauses.may_be_private(rounds.now_ns, false));
    rounds.now_ns += kRound;
  }
  CHECK(rounds.until_private() == AtomicPauses::kWatchNs - kRound);
  CHECK(rounds.pauses.may_be_private(rounds.now_ns, false));  // a new thread is no reason to take them away

  rounds.pauses.begin(rounds.now_ns);  // one that never becomes a twin is not waited for for ever
  CHECK(rounds.until_private(false) == AtomicPauses::kLongestWatchNs);
  REQUIRE(rounds.rest() > 0);  // but for as long as it takes once an atomic instruction came
  for (uint64_t waited_ns = 0; waited_ns < 5 * AtomicPauses::kLongestWatchNs; waited_ns += kRound) {
    CHECK_FALSE(rounds.pauses.may_be_private(rounds.now_ns, false));
    rounds.now_ns += kRound;
  }
  CHECK(rounds.until_private() > 0);
}

TEST_CASE("rare atomic instructions cost a pause each") {
  Rounds rounds;
  rounds.pauses.begin(rounds.now_ns);
  for (int time = 0; time < 100; ++time) {
    rounds.until_private();
    rounds.now_ns += AtomicPauses::kWorthNs;
    CHECK(rounds.rest() == AtomicPauses::kShortestRestNs);
  }
}

TEST_CASE("a program whose atomic instructions come often is left alone") {
  const uint64_t lasted_ns = GENERATE(uint64_t{0}, kRound, AtomicPauses::kWorthNs - kRound);
  Rounds rounds;
  rounds.pauses.begin(rounds.now_ns);
  uint64_t rest_ns = AtomicPauses::kShortestRestNs;
  for (uint32_t time = 0; time < AtomicPauses::kMostShort; ++time, rest_ns *= 2) {
    if (lasted_ns) rounds.until_private();
    rounds.now_ns += lasted_ns;
    CHECK(rounds.rest() == rest_ns);
  }
  CHECK(rounds.rest() == 0);
}

TEST_CASE("a long time without them makes up for short ones") {
  Rounds rounds;
  rounds.pauses.begin(rounds.now_ns);
  for (uint32_t time = 0; time < AtomicPauses::kMostShort; ++time) REQUIRE(rounds.rest() > 0);
  rounds.until_private();
  rounds.now_ns += AtomicPauses::kWorthNs;
  CHECK(rounds.rest() == AtomicPauses::kShortestRestNs);
  for (uint32_t time = 0; time < AtomicPauses::kMostShort; ++time) CHECK(rounds.rest() > 0);
}
