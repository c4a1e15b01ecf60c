#pragma once
// Decodes LEB128 numbers. Input is untrusted.

#include <cstdint>

namespace prof {

constexpr unsigned kMaxVarintBytes = 9;

inline uint32_t unzigzag(uint64_t value) {
  return static_cast<uint32_t>((value >> 1) ^ (0 - (value & 1)));
}

// Returns false if the number does not end before `end`.
inline bool read_varint(const uint8_t*& at, const uint8_t* end, uint64_t& value) {
  value = 0;
  for (unsigned i = 0; i < kMaxVarintBytes && at < end; ++i) {
    const uint8_t byte = *at++;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

}  // namespace prof
