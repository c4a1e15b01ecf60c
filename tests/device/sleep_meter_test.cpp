#include "hpcrun/device/sleep_meter.h"

#include <catch2/catch.hpp>
#include <ctime>

using namespace hpcrun;

namespace {

constexpr uint64_t kMillisecond = 1'000'000;

}  // namespace

TEST_CASE("a thread that gave its processor away slept for what it did not work") {
  SleepMeter meter;
  meter.restart({100, 5});
  CHECK(meter.slept(1000, {400, 6}) == 700);
  CHECK(meter.slept(1000, {1400, 7}) == 0);
}

TEST_CASE("a thread that had to wait for a processor did not sleep") {
  SleepMeter meter;
  meter.restart({100, 5});
  CHECK(meter.slept(1000, {400, 5}) == 0);
  // The next measurement starts from there.
  CHECK(meter.slept(500, {500, 6}) == 400);
}

TEST_CASE("work after the time in question is not of it") {
  SleepMeter meter;
  meter.restart({0, 0});
  CHECK(meter.slept(1000, {350, 1}, 50) == 700);
  CHECK(meter.slept(1000, {360, 2}, 50) == 1000);
}

TEST_CASE("the calling thread's naps are seen") {
  const ThreadUsage before = thread_usage();
  const timespec nap{0, 20'000'000};
  nanosleep(&nap, nullptr);
  const ThreadUsage after = thread_usage();
  CHECK(after.sleeps > before.sleeps);
  CHECK(after.cpu_ns - before.cpu_ns < 20 * kMillisecond);
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < 20'000'000; ++i) sum = sum + i;
  CHECK(thread_usage().cpu_ns > after.cpu_ns);
}
