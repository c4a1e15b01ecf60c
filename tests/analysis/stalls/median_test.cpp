#include "analysis/stalls/median.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace prof;

namespace {

uint64_t median(const std::vector<uint64_t>& numbers) {
  return median_of([&](const auto& visit) {
    for (const uint64_t number : numbers) visit(number);
  });
}

}  // namespace

TEST_CASE("The median is one of the numbers, the smaller one of two") {
  CHECK(median({}) == 0);
  CHECK(median({7}) == 7);
  CHECK(median({9, 1}) == 1);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({UINT64_MAX, UINT64_MAX, 0}) == UINT64_MAX);
}

TEST_CASE("The median is exact for numbers of every size") {
  std::mt19937_64 random(11);
  for (int run = 0; run < 300; ++run) {
    std::vector<uint64_t> numbers(1 + random() % 50);
    const unsigned bits = 1 + static_cast<unsigned>(random() % 64);
    const uint64_t base = run % 2 ? random() >> (64 - bits) : 0;  // also numbers that differ in low bits only
    for (uint64_t& number : numbers)
      number = run % 2 ? base ^ (random() % 1024) : random() >> (64 - 1 - random() % bits);
    std::vector<uint64_t> sorted = numbers;
    std::ranges::sort(sorted);
    REQUIRE(median(numbers) == sorted[(sorted.size() - 1) / 2]);
  }
}
