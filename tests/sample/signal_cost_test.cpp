// The sampling rate depends on the cost of a signal.

#include "hpcrun/sample/signal_cost.h"

#include <catch2/catch.hpp>

using hpcrun::affordable_rate;
using hpcrun::kRateAsRequested;
using hpcrun::SampleBrake;

TEST_CASE("rates that cost little are taken as requested") {
  CHECK(affordable_rate(20'000, 0) == 20'000);
  CHECK(affordable_rate(20'000, 1'500) == 20'000);
  for (const uint32_t rate : {1u, 200u, 1'000u, kRateAsRequested}) CHECK(affordable_rate(rate, 1'000'000) == rate);
}

TEST_CASE("signals take no larger share than samples may") {
  for (const uint64_t signal_ns : {5'000, 10'000, 18'000}) {
    const uint32_t rate = affordable_rate(20'000, signal_ns);
    CHECK(rate < 20'000);
    CHECK(rate * signal_ns * SampleBrake::kPeriodsPerCost <= 1'000'000'000);
    CHECK((rate + 1) * signal_ns * SampleBrake::kPeriodsPerCost > 1'000'000'000);
  }
}

TEST_CASE("no rate is lowered below what is never asked about") {
  CHECK(affordable_rate(20'000, 1'000'000) == kRateAsRequested);
  CHECK(affordable_rate(kRateAsRequested + 1, 1'000'000'000) == kRateAsRequested);
}

TEST_CASE("a preempted interruption does not count") {
  uint64_t times[] = {18, 17, 4'000, 19, 18};
  CHECK(hpcrun::median(times, 5) == 18);
  CHECK(hpcrun::median(times, 0) == 0);
}
