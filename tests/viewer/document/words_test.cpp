#include "viewer/document/words.h"

#include <catch2/catch.hpp>

using prof::viewer::duration;

TEST_CASE("durations have three digits, and no zeros behind them") {
  CHECK(duration(0) == "0 ns");
  CHECK(duration(999) == "999 ns");
  CHECK(duration(1'000) == "1 us");
  CHECK(duration(1'234) == "1.23 us");
  CHECK(duration(99'960) == "100 us");
  CHECK(duration(1'500'000) == "1.5 ms");
  CHECK(duration(2'640'000) == "2.64 ms");
  CHECK(duration(12'345'678) == "12.3 ms");
  CHECK(duration(100'000'000) == "100 ms");
  CHECK(duration(750'400'000) == "750 ms");
  CHECK(duration(1'500'000'000) == "1.50 s");
}
