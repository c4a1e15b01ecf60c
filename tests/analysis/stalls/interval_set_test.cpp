#include "analysis/stalls/interval_set.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace prof;

namespace {

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

Pairs intervals(const IntervalSet& set) {
  return {set.begin(), set.end()};
}

}  // namespace

TEST_CASE("Intervals that overlap or touch become one") {
  IntervalSet set;
  set.add(10, 20);
  set.add(30, 40);
  CHECK(intervals(set) == Pairs{{10, 20}, {30, 40}});
  set.add(20, 25);
  CHECK(intervals(set) == Pairs{{10, 25}, {30, 40}});
  set.add(5, 50);
  CHECK(intervals(set) == Pairs{{5, 50}});
  set.add(7, 7);
  set.add(60, 55);
  CHECK(intervals(set) == Pairs{{5, 50}});
}

TEST_CASE("What is removed cuts intervals") {
  IntervalSet set;
  set.add(0, 100);
  set.remove(20, 30);
  CHECK(intervals(set) == Pairs{{0, 20}, {30, 100}});
  set.remove(10, 40);
  CHECK(intervals(set) == Pairs{{0, 10}, {40, 100}});
  set.remove(90, 200);
  set.remove(0, 1);
  CHECK(intervals(set) == Pairs{{1, 10}, {40, 90}});
  CHECK(set.total() == 59);
  CHECK(set.overlap(5, 45) == 10);
  CHECK(set.overlap(10, 40) == 0);
}

TEST_CASE("A set of intervals agrees with a set of points") {
  constexpr uint64_t kPoints = 200;
  std::mt19937 random(4);
  for (int run = 0; run < 200; ++run) {
    IntervalSet set;
    std::vector<bool> points(kPoints);
    for (int step = 0; step < 40; ++step) {
      const uint64_t begin = random() % kPoints, end = std::min(kPoints, begin + random() % 30);
      const bool adds = random() % 3 != 0;
      adds ? set.add(begin, end) : set.remove(begin, end);
      for (uint64_t at = begin; at < end; ++at) points[at] = adds;
      const uint64_t from = random() % kPoints, to = random() % kPoints;
      uint64_t expected = 0;
      for (uint64_t at = from; at < to; ++at) expected += points[at];
      REQUIRE(set.overlap(from, to) == expected);
    }
    Pairs expected;
    for (uint64_t at = 0; at < kPoints; ++at) {
      if (!points[at]) continue;
      if (expected.empty() || expected.back().second != at) expected.emplace_back(at, at);
      ++expected.back().second;
    }
    REQUIRE(intervals(set) == expected);
  }
}
