#pragma once
// Decodes a record of memory-sampling hardware: which bytes were read or written, and where the cache line
// came from. Address, operation and origin come from the hardware, the width from the instruction.
// Async-signal-safe.

#include "hpcrun/measurement/hardware_access.h"
#include "hpcrun/model/access_plan.h"
#include "hpcrun/sample/config.h"
#include "hpcrun/sample/memory_ring.h"

namespace hpcrun {

struct SampledAccess {
  Access access;
  uint64_t time_ns;  // CLOCK_MONOTONIC
  HardwareAccess hardware;
  bool is_exact;  // bytes and kind are the instruction's; otherwise one byte, of the operation that the
                  // hardware reported
};

// Returns false if the record is not an access to the program's memory. `code` reads the process's code.
bool decode_access(const MemoryRecord& record, MemoryEvent event, const MemoryReader& code,
                   SampledAccess& out) noexcept;

}  // namespace hpcrun
