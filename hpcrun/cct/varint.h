#pragma once
// LEB128 numbers, as traces store them. Async-signal-safe.

#include <cstdint>

namespace hpcrun {

// Writes at `at`, up to 10 bytes, and returns the place behind them.
inline char* put_varint(char* at, uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

}  // namespace hpcrun
