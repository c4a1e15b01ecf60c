#pragma once
// What a record of memory-sampling hardware tells: which bytes were read or written, and from where the line
// came. Address, operation and origin are the hardware's; the width is the instruction's. Async-signal-safe.

#include "hpcrun/measurement/hardware_access.h"
#include "hpcrun/model/access_plan.h"
#include "hpcrun/sample/config.h"
#include "hpcrun/sample/memory_ring.h"

namespace hpcrun {

struct SampledAccess {
  Access access;
  uint64_t time_ns;  // CLOCK_MONOTONIC
  HardwareAccess hardware;
  bool is_exact;  // bytes and kind are the instruction's; otherwise one byte of some operation that hardware
                  // told
};

// False: no access to the program's memory. `code`: reads the process's own.
bool decode_access(const MemoryRecord& record, MemoryEvent event, const MemoryReader& code,
                   SampledAccess& out) noexcept;

}  // namespace hpcrun
