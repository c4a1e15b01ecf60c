#include <catch2/catch.hpp>

#include "analysis/words/nearest_name.h"

using namespace prof;

TEST_CASE("a slip or two of the keyboard finds the name that was meant") {
  const std::vector<std::string> names = {"--output", "--threshold", "--thread", "--view"};
  CHECK(nearest_name("--otput", names) == "--output");
  CHECK(nearest_name("--ouptut", names) == "--output");
  CHECK(nearest_name("--OUTPUT", names) == "--output");
  CHECK(nearest_name("--treshold", names) == "--threshold");
  CHECK(nearest_name("--veiw", names) == "--view");
}

TEST_CASE("the only name that begins with the word is meant, too") {
  CHECK(nearest_name("comp", {"completion", "config"}) == "completion");
  CHECK(nearest_name("co", {"completion", "config"}) == "");
}

TEST_CASE("nothing is suggested for what is far from every name") {
  CHECK(nearest_name("frobnicate", {"run", "report", "list"}) == "");
  CHECK(nearest_name("", {"run"}) == "");
  CHECK(nearest_name("x", {}) == "");
  CHECK(did_you_mean("rnu", {"run"}) == "; did you mean run?");
  CHECK(did_you_mean("zzzz", {"run"}) == "");
}
