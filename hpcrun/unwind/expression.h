#pragma once
// DWARF expressions of call frame information, for the rows that tables cannot hold. Bounded in steps and
// stack; loads go through the walk's fault-safe memory. Async-signal-safe.

#include <cstdint>

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/stack_memory.h"

namespace hpcrun {

// Registers of a frame by DWARF number. Those that calls do not preserve are unknown in callers.
struct Registers {
  uint64_t value[kRegisterCount];
  uint32_t known = 0;  // bit per register

  bool has(unsigned reg) const noexcept { return reg < kRegisterCount && (known >> reg & 1) != 0; }
  void set(unsigned reg, uint64_t to) noexcept {
    value[reg] = to;
    known |= 1u << reg;
  }
};

enum class EvaluationStatus : uint8_t {
  Ok,
  Unsupported,  // an operation of no use in CFI, a register that is not known, or out of bounds
  Unreadable,   // a load failed
};

// With `initial` on the stack at the start when it is given (register rules get the CFA).
EvaluationStatus evaluate(Bytes expression, const Registers& registers, uint64_t load_bias,
                          const uint64_t* initial, StackMemory& memory, uint64_t& result) noexcept;

// The caller's registers by a CFI row; `caller` may not alias `frame`. Sets ended when the row marks the
// return address undefined.
EvaluationStatus apply_row(const CfiRow& row, const Registers& frame, uint64_t load_bias, StackMemory& memory,
                           Registers& caller, bool& ended) noexcept;

}  // namespace hpcrun
