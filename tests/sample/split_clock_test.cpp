// CPU time divided between samples of user code and of the kernel, compared with a simulated thread that
// knows both.

#include "hpcrun/sample/split_clock.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>

using hpcrun::SplitCpuClock;

namespace {

constexpr uint64_t kStepNs = 10'000;
constexpr uint64_t kPeriodNs = 1'000'000;
constexpr uint64_t kTickNs = 4'000'000;

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
    both += kStepNs;
    if (!in_kernel) user += kStepNs;
    if (both % kTickNs == 0) {
      if (in_kernel) system_ticks += kTickNs;
      timer_is_due = true;
    }
    if (in_kernel) return;
    if (both % kPeriodNs == 0)
      user_weight += clock.user_sample(kPeriodNs, both, [this] { return system_ticks; });
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
  for (uint64_t both = kPeriodNs; both <= 20 * kPeriodNs; both += kPeriodNs)
    sum += clock.user_sample(kPeriodNs, both, [] { return kTickNs; });
  CHECK(sum == 20 * kPeriodNs);
}

TEST_CASE("a late sample in user code leaves to the kernel what ticks have reported") {
  SplitCpuClock clock;
  clock.start(0, 0);
  CHECK(clock.user_sample(kPeriodNs, 10 * kPeriodNs, [] { return 8 * kPeriodNs; }) == 2 * kPeriodNs);
  CHECK(clock.system_sample(10 * kPeriodNs, 8 * kPeriodNs) == 8 * kPeriodNs);
  CHECK(clock.claimed() == 10 * kPeriodNs);
  // Ticks may report more than there was. The excess is left to user code.
  CHECK(clock.user_sample(kPeriodNs, 15 * kPeriodNs, [] { return 100 * kPeriodNs; }) == kPeriodNs);
  CHECK(clock.system_sample(15 * kPeriodNs, 100 * kPeriodNs) == 4 * kPeriodNs);
  CHECK(clock.system_sample(15 * kPeriodNs, 100 * kPeriodNs) == 0);
}

TEST_CASE("clocks that step back claim nothing") {
  SplitCpuClock clock;
  clock.start(5 * kPeriodNs, 2 * kPeriodNs);
  CHECK(clock.user_sample(kPeriodNs, 4 * kPeriodNs, [] { return kPeriodNs; }) == 0);
  CHECK(clock.system_sample(4 * kPeriodNs, kPeriodNs) == 0);
  CHECK(clock.claimed() == 5 * kPeriodNs);
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
