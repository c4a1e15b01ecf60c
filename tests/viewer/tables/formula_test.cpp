#include "viewer/tables/formula.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace prof;
using namespace prof::viewer;

namespace {

const std::vector<std::string> kMetrics = {"CPUTIME", "L1-misses", "perf::cycles"};

double value(const std::string& text) {
  return Formula(text, kMetrics).value([](size_t metric) {
    return Cost{10.0 * static_cast<double>(metric + 1), static_cast<double>(metric + 1)};
  });
}

std::string failure(const std::string& text) {
  try {
    Formula(text, kMetrics);
  } catch (const FormulaError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("formulas have the usual precedence") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("(1 + 2) * 3") == 9);
  CHECK(value("8 / 4 / 2") == 1);
  CHECK(value("1 - 2 - 3") == -4);
  CHECK(value("-2 * -3") == 6);
  CHECK(value(" 1.5e1 ") == 15);
  CHECK(value("min(3, max(1, 2))") == 2);
  CHECK(std::isnan(value("0 / 0")));
}

TEST_CASE("formulas know metrics by name") {
  CHECK(value("CPUTIME.incl / CPUTIME.excl") == 10);
  CHECK(value("cputime.incl") == 10);
  CHECK(value("[L1-misses].excl * 2") == 4);
  CHECK(value("perf::cycles.incl - 1") == 29);
}

TEST_CASE("what is no formula is reported by place") {
  CHECK(failure("") == "at character 1 (the end): expected a number, a metric or '('");
  CHECK(failure("1 +") == "at character 4 (the end): expected a number, a metric or '('");
  CHECK(failure("1 2") == "at character 3 ('2'): expected an operator or the end");
  CHECK(failure("(1") == "at character 3 (the end): expected ')'");
  CHECK(failure("min(1)") == "at character 6 (')'): expected ','");
  CHECK(failure("CPUTIME") == "at character 8 (the end): expected '.'");
  CHECK(failure("CPUTIME.mean") == "at character 9 ('m'): expected incl or excl");
  CHECK(failure("1 + CPUTIM.incl") ==
        "at character 5 ('C'): expected a metric; CPUTIM is not one of CPUTIME, L1-misses, perf::cycles; did "
        "you mean CPUTIME?");
  CHECK(failure("[CPUTIME.incl") == "at character 14 (the end): expected ']'");
  CHECK(!failure(std::string(10'000, '(')).empty());
  CHECK(!failure(std::string(10'000, '-') + "1").empty());
}
