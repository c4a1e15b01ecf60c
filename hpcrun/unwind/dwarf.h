#pragma once
// Decodes DWARF data from a bounded range of bytes. A read past the end returns zero and sets ok to false, so
// a caller needs to check only once after a group of reads. Async-signal-safe.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hpcrun {

// DWARF numbers of the x86-64 registers (System V ABI, figure 3.36).
enum DwarfRegister : uint8_t {
  kRax = 0,
  kRdx = 1,
  kRcx = 2,
  kRbx = 3,
  kRsi = 4,
  kRdi = 5,
  kRbp = 6,
  kRsp = 7,
  kR8 = 8,
  kR12 = 12,
  kR13 = 13,
  kR14 = 14,
  kR15 = 15,
  kReturnAddress = 16,
  kRegisterCount = 17,
};

// Pointer encodings of .eh_frame (Linux Standard Base, 10.5).
enum PointerEncoding : uint8_t {
  kPointerAbsolute = 0x00,
  kPointerUleb = 0x01,
  kPointerU2 = 0x02,
  kPointerU4 = 0x03,
  kPointerU8 = 0x04,
  kPointerSleb = 0x09,
  kPointerS2 = 0x0a,
  kPointerS4 = 0x0b,
  kPointerS8 = 0x0c,
  kPointerFormatMask = 0x0f,
  kPointerPcRelative = 0x10,
  kPointerDataRelative = 0x30,
  kPointerBaseMask = 0x70,
  kPointerIndirect = 0x80,
  kPointerOmitted = 0xff,
};

struct Bytes {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

struct Cursor {
  const uint8_t* at;
  const uint8_t* end;
  bool ok = true;

  explicit Cursor(Bytes bytes) noexcept : at(bytes.data), end(bytes.data + bytes.size) {}

  size_t left() const noexcept { return static_cast<size_t>(end - at); }

  template <typename T>
  T fixed() noexcept {
    T value{};
    if (left() < sizeof(T)) {
      ok = false;
      at = end;
      return value;
    }
    std::memcpy(&value, at, sizeof(T));
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

  uint64_t uleb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = u8();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
  }

  int64_t sleb() noexcept {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
      byte = u8();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
    } while (byte & 0x80);
    if ((byte & 0x40) && shift < 64) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }

  Bytes block(uint64_t size) noexcept {
    if (size > left()) {
      ok = false;
      at = end;
      return {};
    }
    const Bytes result{at, static_cast<size_t>(size)};
    at += size;
    return result;
  }
};

}  // namespace hpcrun
