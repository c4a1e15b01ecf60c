#include "hpcrun/elf/frame_records.h"

#include "hpcrun/elf/encoded_pointer.h"

namespace hpcrun {
namespace {

constexpr uint32_t kLength64 = 0xffffffffu;

}  // namespace

CfiRecord split_record(const CfiSection& section, uint64_t offset) noexcept {
  CfiRecord record;
  if (offset >= section.bytes.size) {
    record.kind = CfiRecordKind::End;
    return record;
  }
  Cursor cursor({section.bytes.data + offset, section.bytes.size - offset});
  uint64_t length = cursor.fixed<uint32_t>();
  const bool wide = length == kLength64;
  if (wide) length = cursor.fixed<uint64_t>();
  if (!cursor.ok) return record;
  if (length == 0) {
    // .debug_frame has no terminator; padding between its contributions looks like one.
    record.kind = CfiRecordKind::End;
    return record;
  }
  const uint64_t id_offset = static_cast<uint64_t>(cursor.at - section.bytes.data);
  const Bytes all = cursor.block(length);
  if (!cursor.ok) return record;
  record.next = id_offset + length;
  Cursor inner(all);
  // .eh_frame keeps a 4-byte id even after a 64-bit length (LSB 10.6.1).
  const bool wide_id = wide && section.debug_frame;
  const uint64_t id = wide_id ? inner.fixed<uint64_t>() : inner.fixed<uint32_t>();
  if (!inner.ok) return record;
  record.body = {inner.at, inner.left()};
  if (section.debug_frame) {
    const bool is_cie = wide_id ? id == ~uint64_t{0} : id == 0xffffffffu;
    record.kind = is_cie ? CfiRecordKind::Cie : CfiRecordKind::Fde;
    record.cie_offset = static_cast<int64_t>(id);
  } else {
    record.kind = id == 0 ? CfiRecordKind::Cie : CfiRecordKind::Fde;
    record.cie_offset = static_cast<int64_t>(id_offset) - static_cast<int64_t>(id);
  }
  return record;
}

bool read_pointer(const CfiSection& section, Cursor& cursor, uint8_t encoding, uint64_t data_base,
                  uint64_t& value) noexcept {
  const uint64_t here = section.address + static_cast<uint64_t>(cursor.at - section.bytes.data);
  if (!read_encoded(cursor, encoding, value)) return false;
  if (encoding & kPointerIndirect) return false;
  switch (encoding & kPointerBaseMask) {
    case 0:
      if ((encoding & kPointerFormatMask) == kPointerAbsolute) value -= section.load_bias;
      break;
    case kPointerPcRelative:
      value += here;
      break;
    case kPointerDataRelative:
      value += data_base;
      break;
    default:
      return false;
  }
  return true;
}

bool parse_cie(Bytes body, Cie& cie) noexcept {
  cie = Cie{};
  Cursor cursor(body);
  const uint8_t version = cursor.u8();
  if (version != 1 && version != 3 && version != 4) return false;
  const char* const augmentation = cursor.string();
  if (!cursor.ok) return false;
  if (version == 4) {
    const uint8_t address_bytes = cursor.u8();
    const uint8_t segment_bytes = cursor.u8();
    if (address_bytes != 8 || segment_bytes != 0) return false;
  }
  if (augmentation[0] == 'e' && augmentation[1] == 'h') return false;  // GCC 2
  cie.code_align = cursor.uleb();
  cie.data_align = cursor.sleb();
  const uint64_t return_register = version == 1 ? cursor.u8() : cursor.uleb();
  if (return_register != kReturnAddress) return false;
  if (augmentation[0] == 'z') {
    cie.augmented = true;
    const Bytes data = cursor.block(cursor.uleb());
    Cursor inner(data);
    for (const char* letter = augmentation + 1; *letter; ++letter) {
      uint64_t ignored;
      switch (*letter) {
        case 'R':
          cie.pointer_encoding = inner.u8();
          break;
        case 'L':
          inner.u8();
          break;
        case 'P': {
          const uint8_t encoding = inner.u8();
          if (encoding != kPointerOmitted && !read_encoded(inner, encoding, ignored)) return false;
          break;
        }
        case 'S':
          cie.signal_frame = true;
          break;
        case 'B':  // AArch64 only; harmless
          break;
        default:
          return false;
      }
    }
    if (!inner.ok) return false;
  } else if (augmentation[0] != 0) {
    return false;
  }
  cie.instructions = {cursor.at, cursor.left()};
  return cursor.ok;
}

bool parse_fde(const CfiSection& section, Bytes body, const Cie& cie, Fde& fde) noexcept {
  Cursor cursor(body);
  if (!read_pointer(section, cursor, cie.pointer_encoding, 0, fde.start)) return false;
  uint64_t size = 0;
  CfiSection plain = section;
  plain.load_bias = 0;
  if (!read_pointer(plain, cursor, cie.pointer_encoding & kPointerFormatMask, 0, size)) return false;
  fde.end = fde.start + size;
  if (fde.end < fde.start) return false;
  if (cie.augmented) cursor.block(cursor.uleb());
  fde.instructions = {cursor.at, cursor.left()};
  return cursor.ok;
}

}  // namespace hpcrun
