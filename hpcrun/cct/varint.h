#pragma once
// Encodes LEB128 numbers for traces. Async-signal-safe.

#include <cstdint>

namespace hpcrun {

// Writes up to 10 bytes at `at`, and returns the position after them.
inline char* put_varint(char* at, uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

}  // namespace hpcrun
