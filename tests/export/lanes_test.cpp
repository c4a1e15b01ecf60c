#include "prof/export/lanes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "tests/measurement/recorder.h"

using namespace prof;

namespace {

struct Interval {
  uint64_t begin, end;
};

// Returns the number of lanes, after checking that no lane has overlapping intervals.
size_t place_all(const std::vector<Interval>& intervals) {
  Lanes lanes;
  std::map<uint32_t, std::vector<Interval>> placed;
  for (const Interval& interval : intervals)
    placed[lanes.place(interval.begin, interval.end)].push_back(interval);
  for (const auto& [lane, own] : placed) {
    CHECK(lane < placed.size());
    for (size_t i = 1; i < own.size(); ++i) REQUIRE(own[i - 1].end <= own[i].begin);
  }
  return placed.size();
}

size_t most_at_once(const std::vector<Interval>& intervals) {
  std::map<uint64_t, int64_t> changes;
  for (const Interval& interval : intervals) {
    ++changes[interval.begin];
    --changes[interval.end];
  }
  int64_t now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return static_cast<size_t>(most);
}

}  // namespace

TEST_CASE("intervals that touch share a lane, also empty ones") {
  CHECK(place_all({{0, 10}, {10, 20}, {20, 20}, {20, 30}}) == 1);
  CHECK(place_all({{0, 10}, {9, 20}, {10, 15}, {20, 30}}) == 2);
  CHECK(place_all({}) == 0);
}

TEST_CASE("no more lanes are used than intervals overlap, and none overlap in one") {
  prof::test::Random random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> intervals;
    for (uint64_t i = 0; i < 1 + random.below(60); ++i) {
      const uint64_t begin = random.below(100);
      intervals.push_back({begin, begin + 1 + random.below(20)});
    }
    std::ranges::stable_sort(intervals, {}, &Interval::begin);
    CHECK(place_all(intervals) == most_at_once(intervals));
    std::ranges::stable_sort(intervals, {}, &Interval::end);
    CHECK(place_all(intervals) == most_at_once(intervals));
  }
}

TEST_CASE("intervals in any order do not overlap in a lane") {
  prof::test::Random random(8);
  std::vector<Interval> intervals;
  for (int i = 0; i < 500; ++i) {
    const uint64_t begin = random.below(1'000);
    intervals.push_back({begin, begin + random.below(20)});
  }
  CHECK(place_all(intervals) >= most_at_once(intervals));
}
