// Monotonic time from the vDSO.

#include "hpcrun/guest/clock.h"

#include <time.h>

#include <catch2/catch.hpp>

#include "hpcrun/guest/syscalls.h"

using namespace hpcrun;

TEST_CASE("the vDSO's clock is the kernel's") {
  for (const bool by_vdso : {false, true}) {
    if (by_vdso) find_vdso_clock();
    for (int i = 0; i < 1000; ++i) {
      const uint64_t before = sys_clock_ns(CLOCK_MONOTONIC);
      const uint64_t now = monotonic_ns();
      CHECK(before <= now);
      CHECK(now <= sys_clock_ns(CLOCK_MONOTONIC));
    }
  }
}
