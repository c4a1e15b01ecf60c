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

}  // namespace

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
    (void)execute_until_advance(cursor);  // a CIE has no locations
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
