#pragma once
// Converts times of a process to the clock that all lines of a run share: the first rank's, if nodes compared
// their clocks with it (node_clocks.h).

#include <cstdint>

#include "hpcrun/measurement/reader.h"

namespace prof {

// Returns how far a clock has drifted at a time of CLOCK_MONOTONIC, in ns.
inline int64_t lost_by(const ClockDrift& drift, uint64_t monotonic_ns) {
  if (drift.lost_ns == 0 || monotonic_ns <= drift.from_ns) return 0;
  if (monotonic_ns >= drift.until_ns) return drift.lost_ns;
  const double share =
      static_cast<double>(monotonic_ns - drift.from_ns) / static_cast<double>(drift.until_ns - drift.from_ns);
  return static_cast<int64_t>(share * static_cast<double>(drift.lost_ns));
}

// Converts recorded times (CLOCK_MONOTONIC, in ns) to ns since the epoch. The order of times is kept.
class CommonTime {
 public:
  explicit CommonTime(const MeasuredProcess& process)
      : drift_(process.drift),
        undrifted_(process.start_realtime_ns - process.start_monotonic_ns -
                   static_cast<uint64_t>(lost_by(process.drift, process.start_monotonic_ns))) {}

  uint64_t operator()(uint64_t monotonic_ns) const {
    return monotonic_ns + undrifted_ + static_cast<uint64_t>(lost_by(drift_, monotonic_ns));
  }

 private:
  ClockDrift drift_;
  uint64_t undrifted_;  // added before the clock has drifted; may wrap
};

}  // namespace prof
