#pragma once
// Records the memory that a thread used while other threads used it as well. The stream goes into extents of
// the measurement file, like traces (cct.h). One caller at a time; async-signal-safe. Before attach(),
// append() drops everything.

#include <cstdint>

#include "hpcrun/cct/cct.h"
#include "hpcrun/measurement/hardware_access.h"

namespace hpcrun {

struct AccessRecord {
  uint64_t time_ns;    // CLOCK_MONOTONIC
  uint64_t weight_ns;  // CPU time since the previous sample, which this one represents; 0: not a sample
  uint64_t address;    // below 2^63, as are all addresses of a program
  uint64_t bytes;
  uint64_t bits;    // kAccess...
  uint64_t object;  // id + 1, or 0
};

class AccessStream {
 public:
  // Takes no space before the first append. Neither file nor arena is owned. Returns false if there is no
  // memory.
  [[nodiscard]] bool attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept;

  // Appends an access. `node`: the context that ends in the instruction, in the thread's tree. Returns false
  // if there was no space and the access was dropped.
  bool append(const AccessRecord& access, NodeId node) noexcept;

  // The same for an access reported by hardware, with the hardware's data.
  bool append(const AccessRecord& access, const HardwareAccess& hardware, NodeId node) noexcept;

  // Must be the last call: nothing can be appended afterwards.
  void seal() noexcept;

 private:
  struct State;
  State* state_ = nullptr;
};

}  // namespace hpcrun
