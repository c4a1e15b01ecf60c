// The CPU clock that samples mostly estimate, compared with a simulated machine that knows it exactly.

#include "hpcrun/sample/cpu_clock.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>

using hpcrun::SampledCpuClock;

namespace {

constexpr uint64_t kPeriodNs = 250'000;  // 4 kHz

// A thread under the perf clock: a timer on a grid of CPU time. It fires late if the hypervisor takes the
// processor away (CPU time then continues, as the guest's clocks do).
struct Machine {
  uint64_t wall = 1'000'000'000;
  uint64_t cpu = 5'000'000;
  uint64_t next_tick = cpu + kPeriodNs;
  unsigned readings = 0;

  void sleep(uint64_t ns) { wall += ns; }
  // Runs for this time, or until the next tick if that is earlier. Returns true at the tick.
  bool run(uint64_t ns) {
    const uint64_t until = std::min(ns, next_tick - cpu);
    wall += until;
    cpu += until;
    return cpu >= next_tick;
  }
  // Delays the sample of a tick; ticks missed meanwhile are skipped.
  void late(uint64_t ns) {
    wall += ns;
    cpu += ns;
    while (next_tick <= cpu) next_tick += kPeriodNs;
  }
  uint64_t read() {
    ++readings;
    return cpu;
  }
};

uint64_t sample(SampledCpuClock& clock, Machine& machine) {
  return clock.advance(kPeriodNs, machine.wall, [&] { return machine.read(); });
}

uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

TEST_CASE("a thread that always runs has its clock read once in sixteen samples") {
  Machine machine;
  SampledCpuClock clock;
  clock.start(machine.cpu, machine.wall);
  uint64_t sum = 0;
  const uint64_t start = machine.cpu;
  for (int i = 0; i < 1600; ++i) {
    REQUIRE(machine.run(kPeriodNs));
    machine.late(700 + static_cast<uint64_t>(i % 7) * 100);
    sum += sample(clock, machine);
  }
  CHECK(sum == machine.cpu - start);
  CHECK(clock.cpu() == machine.cpu);
  CHECK(machine.readings <= 1600 / 16 + 2);
}

TEST_CASE("time that a thread waits is never taken for CPU time") {
  Machine machine;
  SampledCpuClock clock;
  clock.start(machine.cpu, machine.wall);
  uint64_t before = machine.cpu;
  for (int i = 0; i < 100; ++i) {
    machine.run(kPeriodNs / 2);
    machine.sleep(kPeriodNs / 10);
    REQUIRE(machine.run(kPeriodNs));
    machine.late(0);
    CHECK(sample(clock, machine) == machine.cpu - before);
    before = machine.cpu;
  }
  CHECK(machine.readings == 100);
}

TEST_CASE("the first sample is read, whatever happened before it") {
  Machine machine;
  SampledCpuClock clock;
  machine.run(kPeriodNs / 2);
  clock.start(machine.cpu, machine.wall);
  machine.sleep(kPeriodNs / 2);
  REQUIRE(machine.run(kPeriodNs));
  CHECK(sample(clock, machine) == kPeriodNs / 2);
}

TEST_CASE("after a late sample the next comes sooner and is read") {
  Machine machine;
  SampledCpuClock clock;
  clock.start(machine.cpu, machine.wall);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(machine.run(kPeriodNs));
    machine.late(0);
    sample(clock, machine);
  }
  machine.run(kPeriodNs);
  machine.late(kPeriodNs * 6 / 10);
  CHECK(sample(clock, machine) == kPeriodNs * 16 / 10);
  // 0.4 periods of CPU time and 0.6 of sleep: a period of wall time, but not of CPU time.
  machine.sleep(kPeriodNs * 6 / 10);
  REQUIRE(machine.run(kPeriodNs));
  machine.late(0);
  CHECK(sample(clock, machine) == kPeriodNs * 4 / 10);
}

TEST_CASE("samples are worth the CPU time between them under any schedule") {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint64_t limit) { return random() % limit; };
    Machine machine;
    SampledCpuClock clock;
    clock.start(machine.cpu, machine.wall);
    uint64_t start = machine.cpu;
    uint64_t before = machine.cpu;
    uint64_t sum = 0;
    const uint64_t sleepiness = below(4);
    for (int i = 0; i < 400; ++i) {
      while (!machine.run(below(4) < sleepiness ? below(kPeriodNs) : kPeriodNs))
        machine.sleep(below(3) ? below(20'000) : below(3 * kPeriodNs));
      machine.late(below(20) ? below(3'000) : below(2 * kPeriodNs));
      const uint64_t weight = sample(clock, machine);
      INFO("seed " << seed << ", sample " << i);
      // A sample's error is its own slack plus the errors of those since the last reading.
      CHECK(distance(weight, machine.cpu - before) <= kPeriodNs / 2);
      before = machine.cpu;
      sum += weight;
      CHECK(distance(sum, machine.cpu - start) < kPeriodNs / 2);
    }
    CHECK(machine.readings >= 400 / 16);
  }
}
