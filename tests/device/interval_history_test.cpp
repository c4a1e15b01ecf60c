#include "hpcrun/device/interval_history.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "tests/measurement/recorder.h"

using namespace hpcrun;
using prof::test::Random;

namespace {

struct History {
  Arena arena;
  IntervalHistory intervals;
  History() { intervals.attach(arena); }
  ~History() { arena.release_all(); }
};

}  // namespace

TEST_CASE("what is in a history already counts once") {
  History history;
  CHECK(history.intervals.add(10, 20) == 10);
  CHECK(history.intervals.add(15, 30) == 10);
  CHECK(history.intervals.add(12, 18) == 0);
  CHECK(history.intervals.add(40, 50) == 10);
  CHECK(history.intervals.add(0, 60) == 30);
  CHECK(history.intervals.count() == 1);
  CHECK(history.intervals.total() == 60);
}

TEST_CASE("random intervals in any order cover what marking every point says") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    History history;
    std::vector<bool> marked(600);
    for (int i = 0; i < 60; ++i) {
      const uint64_t begin = random.below(500);
      const uint64_t end = begin + random.below(30);
      uint64_t fresh = 0;
      for (uint64_t at = begin; at < end; ++at) {
        fresh += !marked[at];
        marked[at] = true;
      }
      REQUIRE(history.intervals.add(begin, end) == fresh);
    }
    uint64_t sum = 0;
    for (uint64_t at = 0; at < marked.size(); ++at) {
      REQUIRE(history.intervals.covered_before(at) == sum);
      sum += marked[at];
    }
    REQUIRE(history.intervals.total() == sum);
  }
}

TEST_CASE("what is removed stays in the sums") {
  Random random(4);
  for (int round = 0; round < 300; ++round) {
    History trimmed, complete;
    uint64_t floor = 0;
    for (int i = 0; i < 200; ++i) {
      const uint64_t begin = floor + random.below(100);
      const uint64_t end = begin + 1 + random.below(20);
      REQUIRE(trimmed.intervals.add(begin, end) == complete.intervals.add(begin, end));
      if (random.below(10) == 0) {
        floor += random.below(60);
        trimmed.intervals.remove_before(floor);
      }
      REQUIRE(trimmed.intervals.total() == complete.intervals.total());
      const uint64_t at = floor + random.below(150);
      REQUIRE(trimmed.intervals.covered_before(at) == complete.intervals.covered_before(at));
    }
    REQUIRE(trimmed.intervals.count() <= complete.intervals.count());
  }
}

TEST_CASE("a full history removes its older half and goes on") {
  History history;
  constexpr uint64_t kMany = 1'500'000;
  for (uint64_t i = 0; i < kMany; ++i) REQUIRE(history.intervals.add(10 * i, 10 * i + 4) == 4);
  CHECK(history.intervals.total() == 4 * kMany);
  CHECK(history.intervals.count() < kMany);
  CHECK(history.intervals.kept_since() > 0);
  CHECK(history.intervals.covered_before(10 * (kMany - 1)) == 4 * (kMany - 1));
}

TEST_CASE("the first interval in a window is cut to it") {
  History history;
  history.intervals.add(10, 20);
  history.intervals.add(30, 40);
  const auto first_in = [&](uint64_t begin, uint64_t end) {
    const Interval found = history.intervals.first_in({begin, end});
    return std::pair{found.begin, found.end};
  };
  CHECK(first_in(0, 100) == std::pair<uint64_t, uint64_t>{10, 20});
  CHECK(first_in(15, 100) == std::pair<uint64_t, uint64_t>{15, 20});
  CHECK(first_in(20, 100) == std::pair<uint64_t, uint64_t>{30, 40});
  CHECK(first_in(35, 38) == std::pair<uint64_t, uint64_t>{35, 38});
  CHECK(first_in(20, 30) == std::pair<uint64_t, uint64_t>{30, 30});
  CHECK(first_in(50, 60) == std::pair<uint64_t, uint64_t>{60, 60});
}
