#pragma once
// Determines which tasks of a device queue a sampler would have seen. The writer of a sampled stream keeps
// only these, and the reader derives the time that each represents. Time is divided into cells of one period.
// The sampler takes one sample per cell, at a different position each time, so that it does not run in step
// with periodic programs. All times are in quanta.

#include <cstdint>

namespace hpcrun {

// Returns the time of the sample in a cell. `period` must not be 0.
constexpr uint64_t sampled_at(uint64_t cell, uint64_t period) noexcept {
  // The finalizer of SplitMix64: random enough, and the same in all processes.
  uint64_t mixed = cell + 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  return cell * period + mixed % period;
}

// The cells whose sample lies between start and end; none if count is 0.
struct SampledCells {
  uint64_t first = 0;
  uint64_t count = 0;
};
constexpr SampledCells sampled_cells(uint64_t start, uint64_t end, uint64_t period) noexcept {
  if (end <= start) return {};
  uint64_t first = start / period;
  uint64_t behind = (end - 1) / period + 1;
  if (sampled_at(first, period) < start) ++first;
  if (first < behind && sampled_at(behind - 1, period) >= end) --behind;
  return {first, behind - first};
}

}  // namespace hpcrun
