#include <time.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "hpcrun/device/device_clock.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"

using namespace hpcrun;

namespace {

constexpr uint64_t kNever = ~uint64_t{0};

int64_t error_at(const DeviceClock& clock, uint64_t device, uint64_t host) {
  return static_cast<int64_t>(clock.monotonic(device, 0, kNever) - host);
}

}  // namespace

TEST_CASE("a device that counts by a clock of the kernel's is found to do so") {
  find_vdso_clock();
  for (const int which : {CLOCK_MONOTONIC_RAW, CLOCK_REALTIME}) {
    DeviceClock clock;
    const uint64_t before = monotonic_ns();
    const uint64_t queued = sys_clock_ns(which);
    const uint64_t after = monotonic_ns();
    clock.observe(before, queued, after, after);
    CHECK(clock.kernel_clock() == which);
    CHECK(std::abs(error_at(clock, queued, before)) <= static_cast<int64_t>(after - before) + 2'000);
  }
}

TEST_CASE("a clock of the device's own is followed as it drifts") {
  find_vdso_clock();
  constexpr uint64_t kStart = 50'000'000'000, kDevice = 7'000'000;
  DeviceClock clock;
  uint64_t host = kStart;
  // The device's clock is 100 parts per million fast. Every 20 ms there is a command, queued anywhere within
  // a call of 1 to 30 us.
  const auto device_at = [&](uint64_t time) { return kDevice + (time - kStart) + (time - kStart) / 10'000; };
  uint64_t random = 1;
  for (int i = 0; i < 1'000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t length = 1'000 + (random >> 40) % 29'000;
    const uint64_t queued = host + (random >> 33) % length;
    clock.observe(host, device_at(queued), host + length, host + length);
    host += 20'000'000;
    CHECK(clock.kernel_clock() == -1);
    CHECK(std::abs(error_at(clock, device_at(host), host)) < 20'000);
  }
}

TEST_CASE("a thread that lost the processor within the call does not spoil what is known") {
  find_vdso_clock();
  constexpr uint64_t kHost = 50'000'000'000, kDevice = 7'000'000;
  DeviceClock clock;
  clock.observe(kHost, kDevice + 1'000, kHost + 2'000, kHost + 2'000);
  const int64_t known = clock.offset_ns();
  clock.observe(kHost + 20'000'000, kDevice + 20'001'000, kHost + 90'000'000, kHost + 90'000'000);
  CHECK(clock.offset_ns() == known);
}

TEST_CASE("times stay within what is certain") {
  DeviceClock clock;
  CHECK(clock.monotonic(5, 100, 200) == 100);
  CHECK(clock.monotonic(500, 100, 200) == 200);
  CHECK(clock.monotonic(150, 100, 200) == 150);
}
