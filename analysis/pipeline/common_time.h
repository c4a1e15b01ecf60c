#pragma once
// Times of a process as those of the clock that all of a run's lines go by: the first rank's, where nodes
// compared theirs with it (node_clocks.h).

#include <cstdint>

#include "hpcrun/measurement/reader.h"

namespace prof {

// What a clock has lost, in ns, at a time of CLOCK_MONOTONIC.
inline int64_t lost_by(const ClockDrift& drift, uint64_t monotonic_ns) {
  if (drift.lost_ns == 0 || monotonic_ns <= drift.from_ns) return 0;
  if (monotonic_ns >= drift.until_ns) return drift.lost_ns;
  const double share =
      static_cast<double>(monotonic_ns - drift.from_ns) / static_cast<double>(drift.until_ns - drift.from_ns);
  return static_cast<int64_t>(share * static_cast<double>(drift.lost_ns));
}

// Of what a process recorded, which is CLOCK_MONOTONIC in ns, as ns since the epoch. Later times never come
// out earlier.
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
  uint64_t undrifted_;  // added where nothing is lost yet; may wrap
};

}  // namespace prof
