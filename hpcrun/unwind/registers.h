#pragma once
// Defines the registers of a frame.

#include <cstdint>

#include "hpcrun/elf/dwarf.h"

namespace hpcrun {

// A frame's registers, by DWARF number. In callers, the registers that calls do not preserve are unknown.
struct Registers {
  uint64_t value[kRegisterCount];
  uint32_t known = 0;  // one bit per register

  [[nodiscard]] bool has(unsigned reg) const noexcept {
    return reg < kRegisterCount && (known >> reg & 1) != 0;
  }
  void set(unsigned reg, uint64_t to) noexcept {
    value[reg] = to;
    known |= 1u << reg;
  }
};
constexpr uint32_t kAllRegisters = (1u << kRegisterCount) - 1;

}  // namespace hpcrun
