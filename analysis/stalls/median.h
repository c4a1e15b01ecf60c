#pragma once
// Computes the exact median of numbers that are too many to store, in a few passes and half a megabyte of
// memory.

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace prof {

// Returns the median; the lower one if there is an even number, and 0 if there is none. `for_each(visit)`
// calls visit(uint64_t) with every number, and must give the same numbers each time. Numbers below 2^26 (67
// ms in ns) take two passes, larger ones one more for each factor of 65,536.
template <class ForEach>
uint64_t median_of(const ForEach& for_each) {
  // First by their leading bits, so that all classes have the same relative width.
  constexpr unsigned kLeadingBits = 10;
  constexpr unsigned kDigitBits = 16;
  const auto free_bits = [](uint64_t number) {
    const auto width = static_cast<unsigned>(std::bit_width(number));
    return width > kLeadingBits + 1 ? width - kLeadingBits - 1 : 0;
  };
  std::vector<uint64_t> counts(size_t{65} << (kLeadingBits + 1));
  uint64_t numbers = 0;
  for_each([&](uint64_t number) {
    const unsigned bits = free_bits(number);
    ++counts[(size_t{bits} << (kLeadingBits + 1)) + (number >> bits)];
    ++numbers;
  });
  if (numbers == 0) return 0;

  uint64_t rank = (numbers - 1) / 2;  // among those in the remaining classes
  const auto class_of_rank = [&] {
    size_t at = 0;
    while (rank >= counts[at]) {
      rank -= counts[at++];
      assert(at < counts.size());  // for_each() gave the same numbers as before
    }
    return at;
  };
  const size_t leading = class_of_rank();
  auto unknown_bits = static_cast<unsigned>(leading >> (kLeadingBits + 1));
  uint64_t low = (leading & ((size_t{1} << (kLeadingBits + 1)) - 1)) << unknown_bits;
  while (unknown_bits > 0) {
    const unsigned digit_bits = unknown_bits < kDigitBits ? unknown_bits : kDigitBits;
    const unsigned shift = unknown_bits - digit_bits;
    counts.assign(size_t{1} << digit_bits, 0);
    for_each([&](uint64_t number) {
      if (number < low || (number - low) >> unknown_bits != 0) return;
      ++counts[(number - low) >> shift];
    });
    low += static_cast<uint64_t>(class_of_rank()) << shift;
    unknown_bits = shift;
  }
  return low;
}

}  // namespace prof
