// Each sample since a breakpoint was free has the same chance to be watched.
//
// Chance: none, the random numbers are computed.

#include "hpcrun/memory_waste/reservoir.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "hpcrun/measurement/format.h"

using namespace hpcrun;

namespace {

constexpr uint32_t kAll = (1u << kBreakpoints) - 1;

}  // namespace

TEST_CASE("a free breakpoint is always taken") {
  Reservoir reservoir{};
  for (uint64_t random = 0; random < 100; ++random) {
    CHECK(reservoir.take(0, random) == 0);
    CHECK(reservoir.take(0b0111, random) == 3);
    CHECK(reservoir.take(0b1101, random) == 1);
  }
}

TEST_CASE("the n-th sample since one was free replaces a watch with probability 4 / n, each of them alike") {
  constexpr uint32_t kSamples = 40;
  constexpr uint32_t kTrials = 40'000;
  uint32_t kept[kSamples] = {};
  uint64_t random = 1;
  for (uint32_t trial = 0; trial < kTrials; ++trial) {
    Reservoir reservoir{};
    uint32_t held[kBreakpoints];
    uint32_t used = 0;
    for (uint32_t sample = 0; sample < kSamples; ++sample) {
      const uint32_t slot = reservoir.take(used, random = mix64(random + trial));
      if (slot == Reservoir::kNone) continue;
      held[slot] = sample;
      used |= 1u << slot;
    }
    CHECK(used == kAll);
    for (const uint32_t sample : held) ++kept[sample];
  }
  // Each sample is held in the end with probability 4 / 40; six standard deviations.
  constexpr double kExpected = kTrials * 4.0 / kSamples;
  for (const uint32_t count : kept) CHECK(std::abs(count - kExpected) < 6 * std::sqrt(kExpected));
}
