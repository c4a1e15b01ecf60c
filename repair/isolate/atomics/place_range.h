#pragma once

#include <algorithm>
#include <cstdint>

namespace hpcrun {

// Addresses at which code may begin, both ends included.
struct PlaceRange {
  uint64_t low = 1;
  uint64_t high = 0;

  bool is_empty() const noexcept { return low > high; }
  uint64_t span() const noexcept { return high - low; }
  PlaceRange and_in(PlaceRange other) const noexcept {
    return {std::max(low, other.low), std::min(high, other.high)};
  }
};

// Returns the addresses that a 32-bit distance to the target can span, with a margin for the code around it.
inline PlaceRange near(uint64_t target) noexcept {
  constexpr uint64_t kFar = (uint64_t{1} << 31) - 4096;
  return {target > kFar ? target - kFar : 0, target + kFar};
}

}  // namespace hpcrun
