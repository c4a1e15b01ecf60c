#include "repair/isolate/controller/atomic_watch.h"

#include <catch2/catch.hpp>

using namespace hpcrun;

namespace {

constexpr uint64_t kRoundNs = 10'000'000;
constexpr AtomicWatch::Round kSeen{true, true}, kUnseen{true, false}, kIdle{false, true};

struct Rounds {
  AtomicWatch watch;
  uint64_t now_ns = 5'000'000'000;

  // Returns how many rounds it takes until the watch is over; at most 100.
  uint64_t until_over(const AtomicWatch::Round& round) {
    uint64_t rounds = 0;
    for (; rounds < 100 && !watch.is_over_after(round, now_ns); ++rounds) now_ns += kRoundNs;
    return rounds;
  }
  bool next(const AtomicWatch::Round& round) {
    now_ns += kRoundNs;
    return watch.is_over_after(round, now_ns);
  }
};

}  // namespace

TEST_CASE("threads are watched from the round on in which all are seen") {
  Rounds rounds;
  CHECK(rounds.until_over(kSeen) == AtomicWatch::kWatchNs / kRoundNs);
  CHECK(rounds.next(kUnseen));  // a new thread makes no page common
  rounds.watch.begin_anew();
  CHECK_FALSE(rounds.next(kUnseen));
  CHECK_FALSE(rounds.next(kSeen));
  CHECK_FALSE(rounds.next(kSeen));
  CHECK_FALSE(rounds.next(kUnseen));  // and starts over
  CHECK_FALSE(rounds.next(kSeen));
  CHECK_FALSE(rounds.next(kSeen));
  CHECK(rounds.next(kSeen));
}

TEST_CASE("where nobody works nobody is watched") {
  Rounds rounds;
  CHECK(rounds.until_over(kIdle) == 100);
  CHECK(rounds.until_over(kSeen) == AtomicWatch::kWatchNs / kRoundNs);
}

TEST_CASE("who is not seen is not waited for for ever") {
  Rounds rounds;
  CHECK(rounds.until_over(kUnseen) == AtomicWatch::kLongestNs / kRoundNs);
}
