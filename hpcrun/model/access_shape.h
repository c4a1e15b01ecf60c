#pragma once
// Determines what an instruction does at an address that hardware sampled. Async-signal-safe.

#include <cstdint>
#include <optional>

#include "hpcrun/model/data_source.h"
#include "hpcrun/model/instruction.h"

namespace hpcrun {

struct AccessShape {
  uint16_t bytes = 0;  // 1 to kLineBytes
  AccessKind kind = AccessKind::Read;
};

// Returns the shape of the operand that performs the operation. Returns std::nullopt if there is none, or if
// its width is not fixed.
std::optional<AccessShape> shape_of(const Instruction& instruction, DataSource::Operation operation) noexcept;

}  // namespace hpcrun
