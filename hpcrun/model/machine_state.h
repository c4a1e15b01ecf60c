#pragma once
// Defines the registers of an interrupted thread, and sums of them.

#include <cstdint>

namespace hpcrun {

constexpr uint8_t kGeneralRegisters = 16;

struct MachineState {
  // In x86 encoding order: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
  uint64_t general[kGeneralRegisters];
  uint64_t fs_base;
  uint64_t gs_base;
};

// base + index * scale + displacement. A value is a register's number, or kGeneralRegisters + n for derived
// value n; there are fewer than 32 in all.
struct Expression {
  static constexpr uint8_t kNoValue = 0xff;

  uint8_t base = kNoValue;
  uint8_t index = kNoValue;
  uint8_t scale = 1;  // of the index: 1, 2, 4 or 8
  int64_t displacement = 0;

  // Returns one bit for each value that is used.
  [[nodiscard]] uint32_t values() const noexcept {
    return (base == kNoValue ? 0 : 1u << base) | (index == kNoValue ? 0 : 1u << index);
  }
};

inline uint64_t evaluate(const Expression& expression, const uint64_t* values) noexcept {
  uint64_t sum = static_cast<uint64_t>(expression.displacement);
  if (expression.base != Expression::kNoValue) sum += values[expression.base];
  if (expression.index != Expression::kNoValue) sum += values[expression.index] * expression.scale;
  return sum;
}

// Computes left + right * factor. Returns false, with `out` unspecified, if the result does not fit into an
// Expression.
[[nodiscard]] bool add(const Expression& left, const Expression& right, uint8_t factor,
                       Expression& out) noexcept;

}  // namespace hpcrun
