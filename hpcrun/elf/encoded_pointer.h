#pragma once
// Reads a number in one of the formats of .eh_frame pointers. What it is relative to is the caller's
// business. Async-signal-safe.

#include "hpcrun/elf/cursor.h"
#include "hpcrun/elf/dwarf.h"

namespace hpcrun {

// Reads a number in the encoding's format, sign-extended. Returns false if there is no such format or if the
// bytes end before it.
[[nodiscard]] inline bool read_encoded(Cursor& cursor, uint8_t encoding, uint64_t& value) noexcept {
  switch (encoding & kPointerFormatMask) {
    case kPointerAbsolute:
    case kPointerU8:
    case kPointerS8:
      value = cursor.fixed<uint64_t>();
      break;
    case kPointerUleb:
      value = cursor.uleb();
      break;
    case kPointerSleb:
      value = static_cast<uint64_t>(cursor.sleb());
      break;
    case kPointerU2:
      value = cursor.fixed<uint16_t>();
      break;
    case kPointerS2:
      value = static_cast<uint64_t>(int64_t{cursor.fixed<int16_t>()});
      break;
    case kPointerU4:
      value = cursor.fixed<uint32_t>();
      break;
    case kPointerS4:
      value = static_cast<uint64_t>(int64_t{cursor.fixed<int32_t>()});
      break;
    default:
      return false;
  }
  return cursor.ok;
}

}  // namespace hpcrun
