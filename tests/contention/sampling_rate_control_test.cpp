#include "hpcrun/contention/sampling_rate_control.h"

#include <algorithm>
#include <catch2/catch.hpp>

using hpcrun::SamplingRateControl;
using Change = hpcrun::SamplingRateControl::Change;

namespace {

constexpr uint64_t kStartNs = 5'000'000'000;

}  // namespace

TEST_CASE("threads that meet nowhere are sampled seldom") {
  SamplingRateControl control;
  for (uint64_t now = kStartNs; now < kStartNs + 100 * SamplingRateControl::kSearchNs;
       now += SamplingRateControl::kSearchNs / 4)
    CHECK(control.sampled(now) == Change::None);
}

TEST_CASE("threads that meet are sampled often for a while") {
  SamplingRateControl control;
  CHECK(control.met(kStartNs) == Change::Often);
  CHECK(control.met(kStartNs + 1) == Change::None);
  CHECK(control.sampled(kStartNs + SamplingRateControl::kSearchNs - 1) == Change::None);
  CHECK(control.sampled(kStartNs + SamplingRateControl::kSearchNs) == Change::Seldom);
  CHECK(control.sampled(kStartNs + SamplingRateControl::kSearchNs) == Change::None);
}

TEST_CASE("threads that meet and do not contend are looked at ever more seldom") {
  SamplingRateControl control;
  uint64_t now = kStartNs;
  uint64_t rest = SamplingRateControl::kMinRestNs;
  for (int search = 0; search < 8; ++search) {
    CHECK(control.met(now) == Change::Often);
    now += SamplingRateControl::kSearchNs;
    CHECK(control.sampled(now) == Change::Seldom);
    CHECK(control.met(now + rest - 1) == Change::None);
    now += rest;
    rest = std::min(2 * rest, SamplingRateControl::kMaxRestNs);
  }
  CHECK(rest == SamplingRateControl::kMaxRestNs);
}

TEST_CASE(
    "threads that are seen to contend are sampled often for longer, and more seldom afterwards as well") {
  SamplingRateControl control;
  uint64_t now = kStartNs;
  uint64_t rest = SamplingRateControl::kMinRestNs;
  for (int search = 0; search < 8; ++search) {
    CHECK(control.seen(now) == Change::Often);
    for (uint64_t passed = 0; passed < SamplingRateControl::kSeenNs;
         passed += SamplingRateControl::kSeenNs / 6) {
      CHECK(control.sampled(now + passed) == Change::None);
      CHECK(control.seen(now + passed) == Change::None);
    }
    now += SamplingRateControl::kSeenNs;
    CHECK(control.sampled(now) == Change::Seldom);
    CHECK(control.seen(now + rest - 1) == Change::None);
    CHECK(control.sampled(now + rest - 1) == Change::None);
    now += rest;
    rest = std::min(2 * rest, SamplingRateControl::kMaxRestNs);
  }
  CHECK(rest == SamplingRateControl::kMaxRestNs);
}

TEST_CASE("a search that is called off ends at once, and the next one waits in proportion") {
  SamplingRateControl control;
  CHECK(control.call_off(kStartNs) == Change::None);
  CHECK(control.met(kStartNs) == Change::Often);
  const uint64_t now = kStartNs + SamplingRateControl::kSearchNs / 4;
  CHECK(control.call_off(now) == Change::Seldom);
  CHECK(control.call_off(now) == Change::None);
  CHECK(control.sampled(now) == Change::None);
  constexpr uint64_t kRestNs = SamplingRateControl::kMinRestNs / 4;
  CHECK(control.rests_until(now) == now + kRestNs);
  CHECK(control.met(now + kRestNs - 1) == Change::None);
  CHECK(control.met(now + kRestNs) == Change::Often);
  // The rest after an unsuccessful search is no longer because of that.
  const uint64_t end = now + kRestNs + SamplingRateControl::kSearchNs;
  CHECK(control.sampled(end) == Change::Seldom);
  CHECK(control.rests_until(end) == end + SamplingRateControl::kMinRestNs);
}

TEST_CASE("a search is over once what was seen is settled, and one in which nothing was seen goes on") {
  SamplingRateControl control;
  CHECK(control.settled(kStartNs) == Change::None);
  CHECK(control.met(kStartNs) == Change::Often);
  CHECK(control.settled(kStartNs + 1) == Change::None);
  CHECK(control.seen(kStartNs + 2) == Change::None);
  CHECK(control.settled(kStartNs + 3) == Change::Seldom);
  CHECK(control.settled(kStartNs + 3) == Change::None);
  CHECK(control.rests_until(kStartNs + 3) == kStartNs + 3 + SamplingRateControl::kMinRestNs);
  // Earlier observations do not affect the next search.
  const uint64_t next = kStartNs + 3 + SamplingRateControl::kMinRestNs;
  CHECK(control.met(next) == Change::Often);
  CHECK(control.settled(next + 1) == Change::None);
}
