#include "hpcrun/unwind/cfi.h"

namespace hpcrun {
namespace {

enum CfaOpcode : uint8_t {
  kAdvanceLoc = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
};

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
  return cursor.ok;
}

bool parse_cie(const CfiSection& section, Bytes body, Cie& cie) noexcept {
  cie = Cie{};
  Cursor cursor(body);
  const uint8_t version = cursor.u8();
  if (version != 1 && version != 3 && version != 4) return false;
  const char* augmentation = reinterpret_cast<const char*>(cursor.at);
  while (cursor.u8() != 0) {
  }
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
    // A pc-relative pointer is relative to its own location, so the data is read in place.
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
          read_pointer(section, inner, static_cast<uint8_t>(encoding & ~kPointerIndirect), 0, ignored);
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

bool CfiMachine::start(const Cie& cie, const Fde& fde, bool same_cie) noexcept {
  cie_ = &cie;
  remembered_ = 0;
  ok_ = true;
  location_ = fde.start;
  end_ = fde.end;
  if (!same_cie) {
    row_ = CfiRow{};
    initial_ = CfiRow{};
    Cursor cursor(cie.instructions);
    execute_until_advance(cursor);
    if (!ok_) return false;
    initial_ = row_;
  } else {
    row_ = initial_;
  }
  remembered_ = 0;
  location_ = fde.start;
  from_ = to_ = fde.start;
  cursor_ = Cursor(fde.instructions);
  return true;
}

bool CfiMachine::next() noexcept {
  while (ok_ && to_ < end_) {
    from_ = to_;
    if (execute_until_advance(cursor_)) {
      to_ = location_ < end_ ? location_ : end_;
    } else {
      to_ = end_;
    }
    if (!ok_) return false;
    if (to_ > from_) return true;
  }
  return false;
}

bool CfiMachine::run_to(uint64_t address) noexcept {
  while (next()) {
    if (address < to_) return address >= from_;
  }
  return false;
}

void CfiMachine::define(uint64_t reg, RegisterRuleKind kind, int64_t offset) noexcept {
  if (reg >= kRegisterCount) return;  // vector and segment registers
  RegisterRule& rule = row_.registers[reg];
  rule.kind = kind;
  rule.expression_bytes = 0;
  rule.offset = offset;
}

void CfiMachine::restore(uint64_t reg) noexcept {
  if (reg < kRegisterCount) row_.registers[reg] = initial_.registers[reg];
}

// Returns true after an instruction that moves the location, false at the end of the instructions.
bool CfiMachine::execute_until_advance(Cursor& cursor) noexcept {
  const int64_t data_align = cie_->data_align;
  const uint64_t code_align = cie_->code_align;
  // Unsigned arithmetic: the operands of damaged records overflow.
  const auto factored = [data_align](uint64_t n) {
    return static_cast<int64_t>(n * static_cast<uint64_t>(data_align));
  };
  while (cursor.at != cursor.end) {
    const uint8_t opcode = cursor.u8();
    const uint8_t operand = opcode & 0x3f;
    uint64_t advance = 0;
    bool advanced = false;
    switch (opcode & 0xc0) {
      case kAdvanceLoc:
        advance = operand;
        advanced = true;
        break;
      case kOffset:
        define(operand, RegisterRuleKind::AtCfa, factored(cursor.uleb()));
        break;
      case kRestore:
        restore(operand);
        break;
      default:
        switch (operand) {
          case kNop:
            break;
          case kSetLoc:
            // Only DWARF-2 era tools emit it; x86-64 needs no more than advance_loc4.
            ok_ = false;
            return false;
          case kAdvanceLoc1:
            advance = cursor.u8();
            advanced = true;
            break;
          case kAdvanceLoc2:
            advance = cursor.fixed<uint16_t>();
            advanced = true;
            break;
          case kAdvanceLoc4:
            advance = cursor.fixed<uint32_t>();
            advanced = true;
            break;
          case kOffsetExtended: {
            const uint64_t reg = cursor.uleb();
            define(reg, RegisterRuleKind::AtCfa, factored(cursor.uleb()));
            break;
          }
          case kOffsetExtendedSf: {
            const uint64_t reg = cursor.uleb();
            define(reg, RegisterRuleKind::AtCfa, factored(static_cast<uint64_t>(cursor.sleb())));
            break;
          }
          case kGnuNegativeOffsetExtended: {
            const uint64_t reg = cursor.uleb();
            define(reg, RegisterRuleKind::AtCfa, factored(uint64_t{0} - cursor.uleb()));
            break;
          }
          case kValOffset: {
            const uint64_t reg = cursor.uleb();
            define(reg, RegisterRuleKind::CfaPlus, factored(cursor.uleb()));
            break;
          }
          case kValOffsetSf: {
            const uint64_t reg = cursor.uleb();
            define(reg, RegisterRuleKind::CfaPlus, factored(static_cast<uint64_t>(cursor.sleb())));
            break;
          }
          case kRestoreExtended:
            restore(cursor.uleb());
            break;
          case kUndefined:
            define(cursor.uleb(), RegisterRuleKind::Undefined, 0);
            break;
          case kSameValue:
            define(cursor.uleb(), RegisterRuleKind::Unchanged, 0);
            break;
          case kRegister: {
            const uint64_t reg = cursor.uleb();
            define(reg, RegisterRuleKind::InRegister, static_cast<int64_t>(cursor.uleb()));
            break;
          }
          case kRememberState:
            if (remembered_ == kMaxRememberedRows) {
              ok_ = false;
              return false;
            }
            stack_[remembered_++] = row_;
            break;
          case kRestoreState:
            if (remembered_ == 0) {
              ok_ = false;
              return false;
            }
            row_ = stack_[--remembered_];
            break;
          case kDefCfa:
          case kDefCfaSf: {
            const uint64_t reg = cursor.uleb();
            row_.cfa_is_expression = false;
            row_.cfa_register = reg < kRegisterCount ? static_cast<uint8_t>(reg) : uint8_t{kRegisterCount};
            row_.cfa_offset = operand == kDefCfa ? static_cast<int64_t>(cursor.uleb())
                                                 : factored(static_cast<uint64_t>(cursor.sleb()));
            break;
          }
          case kDefCfaRegister: {
            const uint64_t reg = cursor.uleb();
            row_.cfa_is_expression = false;
            row_.cfa_register = reg < kRegisterCount ? static_cast<uint8_t>(reg) : uint8_t{kRegisterCount};
            break;
          }
          case kDefCfaOffset:
            row_.cfa_offset = static_cast<int64_t>(cursor.uleb());
            break;
          case kDefCfaOffsetSf:
            row_.cfa_offset = factored(static_cast<uint64_t>(cursor.sleb()));
            break;
          case kDefCfaExpression:
            row_.cfa_is_expression = true;
            row_.cfa_expression = cursor.block(cursor.uleb());
            break;
          case kExpression:
          case kValExpression: {
            const uint64_t reg = cursor.uleb();
            const Bytes expression = cursor.block(cursor.uleb());
            if (reg >= kRegisterCount) break;
            RegisterRule& rule = row_.registers[reg];
            rule.kind =
                operand == kExpression ? RegisterRuleKind::AtExpression : RegisterRuleKind::ValueExpression;
            rule.expression_bytes = static_cast<uint32_t>(expression.size);
            rule.expression = expression.data;
            break;
          }
          case kGnuArgsSize:
            cursor.uleb();
            break;
          default:
            ok_ = false;
            return false;
        }
    }
    if (!cursor.ok) {
      ok_ = false;
      return false;
    }
    if (advanced) {
      location_ += advance * code_align;
      if (advance != 0) return true;
    }
  }
  return false;
}

}  // namespace hpcrun
