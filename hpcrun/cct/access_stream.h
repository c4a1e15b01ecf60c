#pragma once
// The memory that a thread was seen to use while others used it as well. Goes into extents of the measurement
// file like traces (cct.h). One caller at a time; async-signal-safe. What was not attached drops what is
// appended.

#include <cstdint>

#include "hpcrun/cct/cct.h"
#include "hpcrun/measurement/hardware_access.h"

namespace hpcrun {

struct AccessRecord {
  uint64_t time_ns;    // CLOCK_MONOTONIC
  uint64_t weight_ns;  // CPU time until then that a sample stands for; 0: it was no sample
  uint64_t address;    // below 2^63, as all of a program's are
  uint64_t bytes;
  uint64_t bits;    // kAccess...
  uint64_t object;  // id + 1, or 0
};

class AccessStream {
 public:
  // Takes no space before the first append. Neither file nor arena is owned. False when there is no memory.
  bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // `node`: of the thread's tree, the context that ends in the instruction. False when dropped for want of
  // space.
  bool append(const AccessRecord& access, NodeId node) noexcept;

  // The same of an access that hardware told of, with that.
  bool append(const AccessRecord& access, const HardwareAccess& hardware, NodeId node) noexcept;

  // Nothing may be appended afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
