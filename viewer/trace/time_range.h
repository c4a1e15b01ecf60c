#pragma once
// A range of a run's time.

#include <cstdint>

namespace prof::viewer {

// Times since the epoch; the end is excluded.
struct TimeRange {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;

  uint64_t ns() const { return end_ns - begin_ns; }
  bool operator==(const TimeRange&) const = default;
};

// A moment of a thread or device queue: a time range, and an instant in it.
struct Moment {
  TimeRange range;
  uint32_t profile = 0;  // index into Database::profiles
  uint64_t at_ns = 0;
};

}  // namespace prof::viewer
