#include <catch2/catch.hpp>

#include "prof/base/progress_bar.h"

using namespace prof;

TEST_CASE("the bar shows the share of the pieces that are done") {
  CHECK(progress_line("reading files", 1, 2, 52) == "reading files          [##########          ]  50 %");
  CHECK(progress_line("reading files", 2, 2, 52) == "reading files          [####################] 100 %");
  CHECK(progress_line("x", 0, 0, 52).ends_with("100 %"));
  CHECK(progress_line("x", 5, 2, 10).size() <= 52);
}
