// CPU time divided between samples of user code and of the kernel, compared with a simulated thread that
// knows both.

#include "hpcrun/sample/split_clock.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>

using hpcrun::SplitCpuClock;

namespace {

constexpr uint64_t kStep = 10'000;
constexpr uint64_t kPeriod = 1'000'000;
constexpr uint64_t kTick = 4'000'000;

// A thread that alternates between user code and the kernel. The perf clock fires once per period, unnoticed
// in the kernel. A tick charges its whole length to where it finds the thread, and a timer's sample waits for
// the end of the system call.
struct Machine {
  uint64_t both = 7'000'000;
  uint64_t user = 0;
  uint64_t system_ticks = 40'000'000;  // from before
  bool timer_is_due = false;
  SplitCpuClock clock;
  uint64_t user_weight = 0;
  uint64_t system_weight = 0;

  Machine() { clock.start(both, system_ticks); }

  void step(bool in_kernel) {
    both += kStep;
    if (!in_kernel) user += kStep;
    if (both % kTick == 0) {
      if (in_kernel) system_ticks += kTick;
      timer_is_due = true;
    }
    if (in_kernel) return;
    if (both % kPeriod == 0) user_weight += clock.user_sample(kPeriod, both, [this] { return system_ticks; });
  }
  void leave_kernel() {
    if (timer_is_due) system_weight += clock.system_sample(both, system_ticks);
    timer_is_due = false;
  }
};

double share(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

TEST_CASE("a tick that met a short thread in the kernel costs its user samples nothing") {
  SplitCpuClock clock;
  clock.start(0, 0);
  uint64_t sum = 0;
  for (uint64_t both = kPeriod; both <= 20 * kPeriod; both += kPeriod)
    sum += clock.user_sample(kPeriod, both, [] { return kTick; });
  CHECK(sum == 20 * kPeriod);
}

TEST_CASE("a late sample in user code leaves to the kernel what ticks have reported") {
  SplitCpuClock clock;
  clock.start(0, 0);
  CHECK(clock.user_sample(kPeriod, 10 * kPeriod, [] { return 8 * kPeriod; }) == 2 * kPeriod);
  CHECK(clock.system_sample(10 * kPeriod, 8 * kPeriod) == 8 * kPeriod);
  CHECK(clock.claimed() == 10 * kPeriod);
  // Ticks may report more than there was. The excess is left to user code.
  CHECK(clock.user_sample(kPeriod, 15 * kPeriod, [] { return 100 * kPeriod; }) == kPeriod);
  CHECK(clock.system_sample(15 * kPeriod, 100 * kPeriod) == 4 * kPeriod);
  CHECK(clock.system_sample(15 * kPeriod, 100 * kPeriod) == 0);
}

TEST_CASE("clocks that step back claim nothing") {
  SplitCpuClock clock;
  clock.start(5 * kPeriod, 2 * kPeriod);
  CHECK(clock.user_sample(kPeriod, 4 * kPeriod, [] { return kPeriod; }) == 0);
  CHECK(clock.system_sample(4 * kPeriod, kPeriod) == 0);
  CHECK(clock.claimed() == 5 * kPeriod);
}

TEST_CASE("user and system samples are worth what the thread spent in each") {
  for (const uint32_t percent_in_kernel : {2u, 20u, 50u, 80u, 97u}) {
    Machine machine;
    std::mt19937 random(percent_in_kernel);
    const uint64_t before = machine.both;
    for (int call = 0; call < 40'000; ++call) {
      const auto steps = 1 + static_cast<uint32_t>(random() % 39);
      const uint32_t in_kernel =
          steps * percent_in_kernel / 100 + (random() % 100 < steps * percent_in_kernel % 100);
      for (uint32_t i = 0; i < steps - in_kernel; ++i) machine.step(false);
      for (uint32_t i = 0; i < in_kernel; ++i) machine.step(true);
      if (in_kernel) machine.leave_kernel();
    }
    const uint64_t whole = machine.both - before;
    INFO(percent_in_kernel << " % in the kernel");
    CHECK(machine.user_weight + machine.system_weight <= whole);
    CHECK(share(machine.user_weight + machine.system_weight, whole) > 0.95);
    CHECK(share(machine.user_weight, whole) == Approx(share(machine.user, whole)).margin(0.04));
  }
}
