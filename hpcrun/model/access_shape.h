#pragma once
// What an instruction does at the address that hardware sampled of it. Async-signal-safe.

#include <cstdint>
#include <optional>

#include "hpcrun/model/data_source.h"
#include "hpcrun/model/instruction.h"

namespace hpcrun {

struct AccessShape {
  uint16_t bytes = 0;  // 1 to kLineBytes
  AccessKind kind = AccessKind::Read;
};

// Nothing where no operand of the instruction does that, or its width is not fixed.
std::optional<AccessShape> shape_of(const Instruction& instruction, DataSource::Operation operation) noexcept;

}  // namespace hpcrun
