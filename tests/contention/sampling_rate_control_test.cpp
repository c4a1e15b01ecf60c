#include "hpcrun/contention/sampling_rate_control.h"

#include <algorithm>
#include <catch2/catch.hpp>

using hpcrun::SearchPace;
using Change = hpcrun::SearchPace::Change;

namespace {

constexpr uint64_t kStart = 5'000'000'000;

}  // namespace

TEST_CASE("threads that meet nowhere are sampled seldom") {
  SearchPace pace;
  for (uint64_t now = kStart; now < kStart + 100 * SearchPace::kSearchNs; now += SearchPace::kSearchNs / 4)
    CHECK(pace.sampled(now) == Change::None);
}

TEST_CASE("threads that meet are sampled often for a while") {
  SearchPace pace;
  CHECK(pace.met(kStart) == Change::Often);
  CHECK(pace.met(kStart + 1) == Change::None);
  CHECK(pace.sampled(kStart + SearchPace::kSearchNs - 1) == Change::None);
  CHECK(pace.sampled(kStart + SearchPace::kSearchNs) == Change::Seldom);
  CHECK(pace.sampled(kStart + SearchPace::kSearchNs) == Change::None);
}

TEST_CASE("threads that meet and do not contend are looked at ever more seldom") {
  SearchPace pace;
  uint64_t now = kStart;
  uint64_t rest = SearchPace::kShortestRestNs;
  for (int search = 0; search < 8; ++search) {
    CHECK(pace.met(now) == Change::Often);
    now += SearchPace::kSearchNs;
    CHECK(pace.sampled(now) == Change::Seldom);
    CHECK(pace.met(now + rest - 1) == Change::None);
    now += rest;
    rest = std::min(2 * rest, SearchPace::kLongestRestNs);
  }
  CHECK(rest == SearchPace::kLongestRestNs);
}

TEST_CASE(
    "threads that are seen to contend are sampled often for longer, and more seldom afterwards as well") {
  SearchPace pace;
  uint64_t now = kStart;
  uint64_t rest = SearchPace::kShortestRestNs;
  for (int search = 0; search < 8; ++search) {
    CHECK(pace.seen(now) == Change::Often);
    for (uint64_t passed = 0; passed < SearchPace::kSeenNs; passed += SearchPace::kSeenNs / 6) {
      CHECK(pace.sampled(now + passed) == Change::None);
      CHECK(pace.seen(now + passed) == Change::None);
    }
    now += SearchPace::kSeenNs;
    CHECK(pace.sampled(now) == Change::Seldom);
    CHECK(pace.seen(now + rest - 1) == Change::None);
    CHECK(pace.sampled(now + rest - 1) == Change::None);
    now += rest;
    rest = std::min(2 * rest, SearchPace::kLongestRestNs);
  }
  CHECK(rest == SearchPace::kLongestRestNs);
}

TEST_CASE("a search that is called off ends at once, and the next one waits in proportion") {
  SearchPace pace;
  CHECK(pace.call_off(kStart) == Change::None);
  CHECK(pace.met(kStart) == Change::Often);
  const uint64_t now = kStart + SearchPace::kSearchNs / 4;
  CHECK(pace.call_off(now) == Change::Seldom);
  CHECK(pace.call_off(now) == Change::None);
  CHECK(pace.sampled(now) == Change::None);
  constexpr uint64_t kRest = SearchPace::kShortestRestNs / 4;
  CHECK(pace.rests_until(now) == now + kRest);
  CHECK(pace.met(now + kRest - 1) == Change::None);
  CHECK(pace.met(now + kRest) == Change::Often);
  // The rest after an unsuccessful search is no longer because of that.
  const uint64_t end = now + kRest + SearchPace::kSearchNs;
  CHECK(pace.sampled(end) == Change::Seldom);
  CHECK(pace.rests_until(end) == end + SearchPace::kShortestRestNs);
}

TEST_CASE("a search is over once what was seen is settled, and one in which nothing was seen goes on") {
  SearchPace pace;
  CHECK(pace.settled(kStart) == Change::None);
  CHECK(pace.met(kStart) == Change::Often);
  CHECK(pace.settled(kStart + 1) == Change::None);
  CHECK(pace.seen(kStart + 2) == Change::None);
  CHECK(pace.settled(kStart + 3) == Change::Seldom);
  CHECK(pace.settled(kStart + 3) == Change::None);
  CHECK(pace.rests_until(kStart + 3) == kStart + 3 + SearchPace::kShortestRestNs);
  // Earlier observations do not affect the next search.
  const uint64_t next = kStart + 3 + SearchPace::kShortestRestNs;
  CHECK(pace.met(next) == Change::Often);
  CHECK(pace.settled(next + 1) == Change::None);
}
