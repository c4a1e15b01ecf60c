#pragma once
// Describes the memory access of an instruction, as reported by samples, watchpoints and hardware records.

#include <cstdint>

namespace hpcrun {

// Bits.
enum class AccessKind : uint8_t { Read = 1, Write = 2, ReadWrite = 3 };

[[nodiscard]] constexpr bool reads(AccessKind kind) noexcept {
  return static_cast<uint8_t>(kind) & 1;
}
[[nodiscard]] constexpr bool writes(AccessKind kind) noexcept {
  return static_cast<uint8_t>(kind) & 2;
}

enum class Segment : uint8_t { None, Fs, Gs };

constexpr uint32_t kLineBytes = 64;
constexpr uint64_t line_of(uint64_t address) noexcept {
  return address & ~uint64_t{kLineBytes - 1};
}

}  // namespace hpcrun
