// When the code of a program is searched for atomic instructions, which may take longer than the program.

#include "repair/isolate/controller/planned_modules.h"

#include <catch2/catch.hpp>

using hpcrun::is_worth_planning;

namespace {

constexpr uint64_t kMiB = 1 << 20, kMillisecond = 1'000'000;

}  // namespace

TEST_CASE("little code is looked through at once") {
  CHECK(is_worth_planning(0, 0));
  CHECK(is_worth_planning(16 * kMiB, 0));
  CHECK_FALSE(is_worth_planning(18 * kMiB, 0));
}

TEST_CASE("much code waits until the program has used twice the CPU time that it takes") {
  const uint64_t takes_ms = 90 * 60;
  CHECK_FALSE(is_worth_planning(90 * kMiB, 0));
  CHECK_FALSE(is_worth_planning(90 * kMiB, takes_ms * kMillisecond));
  CHECK(is_worth_planning(90 * kMiB, 21 * takes_ms * kMillisecond / 10));
}

TEST_CASE("sizes that no program has do not overflow") {
  CHECK_FALSE(is_worth_planning(uint64_t{1} << 47, 1'000 * kMillisecond));
}
