// The brake on samples that cost too much, with simulated samples.

#include "hpcrun/sample/sample_brake.h"

#include <catch2/catch.hpp>
#include <cstdint>

using hpcrun::SampleBrake;

namespace {

constexpr uint64_t kPeriodNs = 50'000;  // 20 kHz

struct Outcome {
  uint64_t sampled = 0;
  uint64_t skipped = 0;
};

// Simulates signals whose samples have this cost by the CPU clock, and a higher one by the wall clock.
Outcome run(SampleBrake& brake, unsigned signals, uint64_t cost, uint64_t preempted = 0) {
  Outcome outcome;
  for (unsigned n = 0; n < signals; ++n) {
    if (brake.skips(kPeriodNs, 1)) {
      ++outcome.skipped;
      continue;
    }
    ++outcome.sampled;
    brake.charge(brake.times_by_cpu() ? cost : cost + preempted, kPeriodNs);
  }
  return outcome;
}

}  // namespace

TEST_CASE("samples that cost less than their share are all taken") {
  SampleBrake brake;
  CHECK(run(brake, 100'000, kPeriodNs / SampleBrake::kPeriodsPerCost).skipped == 0);
  CHECK(brake.take_skipped() == 0);
}

TEST_CASE("samples that cost more are skipped until the share holds") {
  for (const uint64_t cost : {kPeriodNs / 6, kPeriodNs, 20 * kPeriodNs}) {
    SampleBrake brake;
    constexpr unsigned kSignals = 200'000;
    const Outcome outcome = run(brake, kSignals, cost);
    CHECK(outcome.sampled > 0);
    CHECK(outcome.skipped > 0);
    CHECK(outcome.sampled * cost <=
          kSignals * kPeriodNs / SampleBrake::kPeriodsPerCost + SampleBrake::kReserveNs + 2 * cost);
    CHECK(brake.take_skipped() == outcome.skipped);
    CHECK(brake.take_skipped() == 0);
  }
}

TEST_CASE("a thread's first samples may cost more") {
  SampleBrake brake;
  CHECK(run(brake, 5, 300'000).skipped == 0);
}

TEST_CASE("preemptions are not charged") {
  SampleBrake brake;
  CHECK(run(brake, 10'000, 1'000, 4'000'000).skipped == 0);
}

TEST_CASE("a signal that stands for several periods pays for as many") {
  SampleBrake brake;
  while (!brake.skips(kPeriodNs, 1)) brake.charge(20 * kPeriodNs, kPeriodNs);
  const uint64_t periods = 100 * SampleBrake::kPeriodsPerCost;
  CHECK_FALSE(brake.skips(kPeriodNs, periods));
}
