#include "hpcrun/model/access_shape.h"

namespace hpcrun {

using Operation = DataSource::Operation;

std::optional<AccessShape> shape_of(const Instruction& instruction, Operation operation) noexcept {
  for (size_t i = 0; i < instruction.memory_count; ++i) {
    const MemoryOperand& operand = instruction.memory[i];
    const bool does_it = operation == Operation::Load    ? reads(operand.kind)
                         : operation == Operation::Store ? writes(operand.kind)
                                                         : operation == Operation::Unknown;
    if (does_it && operand.bytes > 0 && operand.bytes <= kLineBytes)
      return AccessShape{operand.bytes, operand.kind};
  }
  return std::nullopt;
}

}  // namespace hpcrun
