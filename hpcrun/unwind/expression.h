#pragma once
// Evaluates the DWARF expressions of call frame information, for rows that tables cannot hold. The number of
// steps and the stack are bounded. Loads go through the walk's fault-safe memory. Async-signal-safe.

#include <cstdint>

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/registers.h"
#include "hpcrun/unwind/stack_memory.h"

namespace hpcrun {

enum class EvaluationStatus : uint8_t {
  Ok,
  Unsupported,  // an operation of no use in CFI, an unknown register, or out of bounds
  Unreadable,   // a load failed
};

// Evaluates an expression. `initial` is pushed first, unless it is nullptr (register rules start with the
// CFA).
[[nodiscard]] EvaluationStatus evaluate(Bytes expression, const Registers& registers, uint64_t load_bias,
                                        const uint64_t* initial, StackMemory& memory,
                                        uint64_t& result) noexcept;

// Computes the caller's registers by a CFI row. `caller` must not alias `frame`. Sets `ended` if the row
// marks the return address undefined.
[[nodiscard]] EvaluationStatus apply_row(const CfiRow& row, const Registers& frame, uint64_t load_bias,
                                         StackMemory& memory, Registers& caller, bool& ended) noexcept;

}  // namespace hpcrun
