#pragma once
// Decodes numbers from a bounded range of bytes. A read past the end returns zero and sets ok to false, so a
// caller needs to check only once after a group of reads. Async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct Bytes {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

struct Cursor {
  const uint8_t* at;
  const uint8_t* end;
  bool ok = true;

  explicit Cursor(Bytes bytes) noexcept : at(bytes.data), end(bytes.data + bytes.size) {}

  [[nodiscard]] size_t left() const noexcept { return static_cast<size_t>(end - at); }

  template <typename T>
  T fixed() noexcept {
    T value{};
    if (left() < sizeof(T)) {
      fail();
      return value;
    }
    __builtin_memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }

  uint8_t u8() noexcept {
    if (at == end) {
      ok = false;
      return 0;
    }
    return *at++;
  }

  // Reads an unsigned LEB128 number. Trailing zero groups are padding, which assemblers write; a number of
  // more than 64 bits sets ok to false.
  uint64_t uleb() noexcept {
    if (at != end && *at < 0x80) return *at++;
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = u8();
      const uint64_t group = byte & 0x7f;
      if (shift < 64) value |= group << shift;
      if (shift >= 64 ? group != 0 : group << shift >> shift != group) ok = false;
      if (!(byte & 0x80)) return value;
    }
  }

  // Reads a signed LEB128 number. Groups past 64 bits must repeat its sign; others set ok to false.
  int64_t sleb() noexcept {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
      byte = u8();
      const uint64_t group = byte & 0x7f;
      if (shift < 64) value |= group << shift;
      // From bit 63 on, a group holds nothing but copies of the sign.
      if (shift >= 63 && group != (static_cast<int64_t>(value) < 0 ? 0x7f : 0)) ok = false;
      shift += 7;
    } while (byte & 0x80);
    if ((byte & 0x40) && shift < 64) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }

  Bytes block(uint64_t size) noexcept {
    if (size > left()) {
      fail();
      return {};
    }
    const Bytes result{at, static_cast<size_t>(size)};
    at += size;
    return result;
  }

  // Reads a string up to its terminating zero. Without one the cursor fails and the string is empty.
  const char* string() noexcept {
    const auto* const start = reinterpret_cast<const char*>(at);
    while (u8() != 0) {
    }
    return ok ? start : "";
  }

 private:
  void fail() noexcept {
    ok = false;
    at = end;
  }
};

}  // namespace hpcrun
