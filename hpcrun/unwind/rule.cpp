#include "hpcrun/unwind/rule.h"

namespace hpcrun {
namespace {

constexpr uint8_t kOpDeref = 0x06;
constexpr uint8_t kOpBreg0 = 0x70;

// DW_OP_breg<n> offset, alone or followed by DW_OP_deref.
bool register_plus_offset(Bytes expression, bool deref, uint8_t& reg, int64_t& offset) noexcept {
  Cursor cursor(expression);
  const uint8_t opcode = cursor.u8();
  if (opcode < kOpBreg0 || opcode > kOpBreg0 + kR15) return false;
  reg = static_cast<uint8_t>(opcode - kOpBreg0);
  offset = cursor.sleb();
  if (deref && cursor.u8() != kOpDeref) return false;
  return cursor.ok && cursor.at == cursor.end;
}

// DW_OP_breg7 8, breg16 0, lit15, and, lit<n>, ge, lit3, shl, plus: as emitted by linkers for .plt.
bool plt_expression(Bytes expression, int32_t& threshold) noexcept {
  constexpr uint8_t kPattern[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22};
  constexpr size_t kThresholdAt = 6;
  constexpr uint8_t kOpLit0 = 0x30;
  if (expression.size != sizeof kPattern) return false;
  for (size_t i = 0; i < sizeof kPattern; ++i) {
    if (i != kThresholdAt && expression.data[i] != kPattern[i]) return false;
  }
  threshold = expression.data[kThresholdAt] - kOpLit0;
  return threshold >= 0 && threshold <= 15;
}

bool location_of(const RegisterRule& rule, RegisterLocation& location) noexcept {
  switch (rule.kind) {
    case RegisterRuleKind::Unchanged:
      location = RegisterLocation::unchanged();
      return true;
    case RegisterRuleKind::Undefined:
      location = RegisterLocation::undefined();
      return true;
    case RegisterRuleKind::AtCfa:
      if (!RegisterLocation::fits(rule.offset)) return false;
      location = RegisterLocation::at(RegisterLocation::Cfa, rule.offset);
      return true;
    case RegisterRuleKind::AtExpression: {
      uint8_t reg;
      int64_t offset;
      if (!register_plus_offset({rule.expression, rule.expression_bytes}, false, reg, offset)) return false;
      if ((reg != kRbp && reg != kRsp) || !RegisterLocation::fits(offset)) return false;
      location = RegisterLocation::at(reg == kRbp ? RegisterLocation::Rbp : RegisterLocation::Rsp, offset);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

Rule make_rule(const CfiRow& row, bool signal_frame) noexcept {
  Rule interpret;
  interpret.kind = RuleKind::Interpret;
  interpret.flags = signal_frame ? kRuleSignalFrame : 0;
  Rule rule;
  rule.flags = interpret.flags;
  const RegisterRule& ra = row.registers[kReturnAddress];
  if (ra.kind == RegisterRuleKind::Undefined) {
    rule.kind = RuleKind::EndOfStack;
    return rule;
  }
  if (!location_of(ra, rule.return_address) || rule.return_address.is_unchanged()) return interpret;

  if (!row.cfa_is_expression) {
    if (row.cfa_register >= kReturnAddress || row.cfa_offset != static_cast<int32_t>(row.cfa_offset)) {
      return interpret;
    }
    rule.kind = RuleKind::RegisterOffset;
    rule.cfa_register = row.cfa_register;
    rule.cfa_offset = static_cast<int32_t>(row.cfa_offset);
  } else {
    uint8_t reg;
    int64_t offset;
    if (plt_expression(row.cfa_expression, rule.cfa_offset)) {
      rule.kind = RuleKind::Plt;
    } else if (register_plus_offset(row.cfa_expression, true, reg, offset) &&
               offset == static_cast<int32_t>(offset)) {
      rule.kind = RuleKind::Deref;
      rule.cfa_register = reg;
      rule.cfa_offset = static_cast<int32_t>(offset);
    } else {
      return interpret;
    }
  }

  // An explicit rule for rsp is accepted if it agrees with the CFA.
  const RegisterRule& rsp = row.registers[kRsp];
  if (rsp.kind == RegisterRuleKind::CfaPlus) {
    if (rsp.offset != 0) return interpret;
  } else if (rsp.kind == RegisterRuleKind::AtExpression) {
    RegisterLocation location;
    if (rule.kind != RuleKind::Deref || rule.cfa_register != kRsp || !location_of(rsp, location) ||
        location != RegisterLocation::at(RegisterLocation::Rsp, rule.cfa_offset)) {
      return interpret;
    }
  } else if (rsp.kind != RegisterRuleKind::Unchanged) {
    return interpret;
  }

  if (!location_of(row.registers[kRbp], rule.rbp) || !location_of(row.registers[kRbx], rule.rbx) ||
      !location_of(row.registers[kR12], rule.r12) || !location_of(row.registers[kR13], rule.r13) ||
      !location_of(row.registers[kR14], rule.r14) || !location_of(row.registers[kR15], rule.r15)) {
    return interpret;
  }
  const bool ra_below_cfa = rule.return_address == RegisterLocation::at(RegisterLocation::Cfa, -8);
  const auto simple = [](RegisterLocation location) {
    return location.is_unchanged() || location.base() == RegisterLocation::Cfa;
  };
  if (rule.kind == RuleKind::RegisterOffset && (rule.cfa_register == kRsp || rule.cfa_register == kRbp) &&
      ra_below_cfa && !signal_frame && simple(rule.rbp) && simple(rule.rbx) && simple(rule.r12) &&
      simple(rule.r13) && simple(rule.r14) && simple(rule.r15)) {
    rule.flags |= kRuleSimple;
  }
  if (signal_frame && rule.kind == RuleKind::Deref && rule.cfa_register == kRsp &&
      rule.cfa_offset == kernel_frame_offset(kRsp) &&
      rule.return_address ==
          RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(kReturnAddress))) {
    rule.flags |= kRuleKernelFrame;
  }
  return rule;
}

Rule kernel_frame_rule() noexcept {
  Rule rule;
  rule.kind = RuleKind::Deref;
  rule.flags = kRuleSignalFrame | kRuleKernelFrame;
  rule.cfa_register = kRsp;
  rule.cfa_offset = static_cast<int32_t>(kernel_frame_offset(kRsp));
  rule.return_address = RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(kReturnAddress));
  rule.rbp = RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(kRbp));
  rule.rbx = RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(kRbx));
  rule.r12 = RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(kR12));
  rule.r13 = RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(kR13));
  rule.r14 = RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(kR14));
  rule.r15 = RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(kR15));
  return rule;
}

}  // namespace hpcrun
