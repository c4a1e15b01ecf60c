#include "hpcrun/unwind/expression.h"

#include <cassert>

namespace hpcrun {
namespace {

constexpr unsigned kMaxSteps = 512;  // expressions in CFI have about ten operations; backward branches exist

enum Operation : uint8_t {
  kAddr = 0x03,
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s,
  kConst2u,
  kConst2s,
  kConst4u,
  kConst4s,
  kConst8u,
  kConst8s,
  kConstu,
  kConsts,
  kDup,
  kDrop,
  kOver,
  kPick,
  kSwap,
  kRot,
  kAbs = 0x19,
  kAnd,
  kDiv,
  kMinus,
  kMod,
  kMul,
  kNeg,
  kNot,
  kOr,
  kPlus,
  kPlusUconst,
  kShl,
  kShr,
  kShra,
  kXor,
  kBra,
  kEq,
  kGe,
  kGt,
  kLe,
  kLt,
  kNe,
  kSkip,
  kLit0 = 0x30,
  kLit31 = 0x4f,
  kBreg0 = 0x70,
  kBreg31 = 0x8f,
  kBregx = 0x92,
  kDerefSize = 0x94,
  kNop = 0x96,
};
static_assert(kConst1s == 0x09 && kRot == 0x17 && kXor == 0x27 && kSkip == 0x2f);

struct Evaluator {
  const Registers& registers;
  StackMemory& memory;
  uint64_t load_bias;
  unsigned depth = 0;
  bool ok = true;

  void push(uint64_t value) noexcept {
    if (depth == StackMemory::kMaxOperands) {
      ok = false;
    } else {
      memory.operands[depth++] = value;
    }
  }
  uint64_t pop() noexcept {
    if (depth == 0) {
      ok = false;
      return 0;
    }
    return memory.operands[--depth];
  }
  uint64_t pick(unsigned from_top) noexcept {
    if (from_top >= depth) {
      ok = false;
      return 0;
    }
    return memory.operands[depth - 1 - from_top];
  }
  void push_register(uint64_t reg, int64_t offset) noexcept {
    if (reg < kRegisterCount && registers.has(static_cast<unsigned>(reg))) {
      push(registers.value[reg] + static_cast<uint64_t>(offset));
    } else {
      ok = false;
    }
  }
};

// Applies an operation with two operands. Returns false for any other operation.
bool binary(uint8_t operation, uint64_t a, uint64_t b, uint64_t& out) noexcept {
  const auto sa = static_cast<int64_t>(a);
  const auto sb = static_cast<int64_t>(b);
  switch (operation) {
    case kAnd:
      out = a & b;
      return true;
    case kDiv:
      if (sb == 0 || (sb == -1 && a == uint64_t{1} << 63)) return false;
      out = static_cast<uint64_t>(sa / sb);
      return true;
    case kMinus:
      out = a - b;
      return true;
    case kMod:
      if (b == 0) return false;
      out = a % b;
      return true;
    case kMul:
      out = a * b;
      return true;
    case kOr:
      out = a | b;
      return true;
    case kPlus:
      out = a + b;
      return true;
    case kShl:
      out = b < 64 ? a << b : 0;
      return true;
    case kShr:
      out = b < 64 ? a >> b : 0;
      return true;
    case kShra:
      out = static_cast<uint64_t>(sa >> (b < 63 ? b : 63));
      return true;
    case kXor:
      out = a ^ b;
      return true;
    case kEq:
      out = a == b;
      return true;
    case kGe:
      out = sa >= sb;
      return true;
    case kGt:
      out = sa > sb;
      return true;
    case kLe:
      out = sa <= sb;
      return true;
    case kLt:
      out = sa < sb;
      return true;
    case kNe:
      out = a != b;
      return true;
    default:
      return false;
  }
}

}  // namespace

EvaluationStatus evaluate(Bytes expression, const Registers& registers, uint64_t load_bias,
                          const uint64_t* initial, StackMemory& memory, uint64_t& result) noexcept {
  Evaluator e{registers, memory, load_bias, 0, true};
  if (initial) e.push(*initial);
  Cursor cursor(expression);
  for (unsigned step = 0; cursor.at != cursor.end; ++step) {
    if (step == kMaxSteps) return EvaluationStatus::Unsupported;
    const uint8_t op = cursor.u8();
    if (op >= kLit0 && op <= kLit31) {
      e.push(op - kLit0);
    } else if (op >= kBreg0 && op <= kBreg31) {
      e.push_register(op - kBreg0, cursor.sleb());
    } else {
      switch (op) {
        case kAddr:
          e.push(cursor.fixed<uint64_t>() + load_bias);
          break;
        case kConst1u:
          e.push(cursor.fixed<uint8_t>());
          break;
        case kConst1s:
          e.push(static_cast<uint64_t>(int64_t{cursor.fixed<int8_t>()}));
          break;
        case kConst2u:
          e.push(cursor.fixed<uint16_t>());
          break;
        case kConst2s:
          e.push(static_cast<uint64_t>(int64_t{cursor.fixed<int16_t>()}));
          break;
        case kConst4u:
          e.push(cursor.fixed<uint32_t>());
          break;
        case kConst4s:
          e.push(static_cast<uint64_t>(int64_t{cursor.fixed<int32_t>()}));
          break;
        case kConst8u:
        case kConst8s:
          e.push(cursor.fixed<uint64_t>());
          break;
        case kConstu:
          e.push(cursor.uleb());
          break;
        case kConsts:
          e.push(static_cast<uint64_t>(cursor.sleb()));
          break;
        case kBregx: {
          const uint64_t reg = cursor.uleb();
          e.push_register(reg, cursor.sleb());
          break;
        }
        case kDeref:
        case kDerefSize: {
          const uint8_t bytes = op == kDeref ? uint8_t{8} : cursor.u8();
          if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return EvaluationStatus::Unsupported;
          const uint64_t address = e.pop();
          uint64_t value = 0;
          if (!e.ok) return EvaluationStatus::Unsupported;
          if (bytes == 8 ? !memory.load(address, value) : !safe_read(address, &value, bytes)) {
            return EvaluationStatus::Unreadable;
          }
          e.push(value);
          break;
        }
        case kDup:
          e.push(e.pick(0));
          break;
        case kDrop:
          e.pop();
          break;
        case kOver:
          e.push(e.pick(1));
          break;
        case kPick:
          e.push(e.pick(cursor.u8()));
          break;
        case kSwap: {
          const uint64_t a = e.pop();
          const uint64_t b = e.pop();
          e.push(a);
          e.push(b);
          break;
        }
        case kRot: {
          const uint64_t a = e.pop();
          const uint64_t b = e.pop();
          const uint64_t c = e.pop();
          e.push(a);
          e.push(c);
          e.push(b);
          break;
        }
        case kAbs: {
          const uint64_t a = e.pop();
          e.push(static_cast<int64_t>(a) < 0 ? uint64_t{0} - a : a);
          break;
        }
        case kNeg:
          e.push(uint64_t{0} - e.pop());
          break;
        case kNot:
          e.push(~e.pop());
          break;
        case kPlusUconst: {
          const uint64_t add = cursor.uleb();
          e.push(e.pop() + add);
          break;
        }
        case kSkip:
        case kBra: {
          const int16_t distance = cursor.fixed<int16_t>();
          if (op == kBra && e.pop() == 0) break;
          const int64_t target = cursor.at - expression.data + distance;
          if (target < 0 || target > static_cast<int64_t>(expression.size))
            return EvaluationStatus::Unsupported;
          cursor.at = expression.data + target;
          break;
        }
        case kNop:
          break;
        default: {
          const uint64_t b = e.pop();
          const uint64_t a = e.pop();
          uint64_t out = 0;
          if (!e.ok || !binary(op, a, b, out)) return EvaluationStatus::Unsupported;
          e.push(out);
        }
      }
    }
    if (!e.ok || !cursor.ok) return EvaluationStatus::Unsupported;
  }
  result = e.pop();
  return e.ok ? EvaluationStatus::Ok : EvaluationStatus::Unsupported;
}

EvaluationStatus apply_row(const CfiRow& row, const Registers& frame, uint64_t load_bias, StackMemory& memory,
                           Registers& caller, bool& ended) noexcept {
  assert(&caller != &frame);
  ended = row.registers[kReturnAddress].kind == RegisterRuleKind::Undefined;
  if (ended) return EvaluationStatus::Ok;
  uint64_t cfa;
  if (row.cfa_is_expression) {
    const EvaluationStatus status = evaluate(row.cfa_expression, frame, load_bias, nullptr, memory, cfa);
    if (status != EvaluationStatus::Ok) return status;
  } else {
    if (!frame.has(row.cfa_register)) return EvaluationStatus::Unsupported;
    cfa = frame.value[row.cfa_register] + static_cast<uint64_t>(row.cfa_offset);
  }
  caller.known = 0;
  caller.set(kRsp, cfa);
  constexpr uint32_t kPreserved = 1u << kRbx | 1u << kRbp | 1u << kR12 | 1u << kR13 | 1u << kR14 | 1u << kR15;
  for (unsigned reg = 0; reg < kRegisterCount; ++reg) {
    const RegisterRule& rule = row.registers[reg];
    uint64_t value = 0;
    switch (rule.kind) {
      case RegisterRuleKind::Unchanged:
        if ((kPreserved >> reg & 1) && frame.has(reg)) caller.set(reg, frame.value[reg]);
        continue;
      case RegisterRuleKind::Undefined:
        continue;
      case RegisterRuleKind::AtCfa:
        if (!memory.load(cfa + static_cast<uint64_t>(rule.offset), value))
          return EvaluationStatus::Unreadable;
        break;
      case RegisterRuleKind::CfaPlus:
        value = cfa + static_cast<uint64_t>(rule.offset);
        break;
      case RegisterRuleKind::InRegister:
        if (!frame.has(static_cast<unsigned>(rule.offset))) continue;
        value = frame.value[rule.offset];
        break;
      case RegisterRuleKind::AtExpression:
      case RegisterRuleKind::ValueExpression: {
        const EvaluationStatus status =
            evaluate({rule.expression, rule.expression_bytes}, frame, load_bias, &cfa, memory, value);
        if (status != EvaluationStatus::Ok) return status;
        if (rule.kind == RegisterRuleKind::AtExpression) {
          const uint64_t address = value;
          if (!memory.load(address, value)) return EvaluationStatus::Unreadable;
        }
        break;
      }
    }
    caller.set(reg, value);
  }
  return caller.has(kReturnAddress) ? EvaluationStatus::Ok : EvaluationStatus::Unsupported;
}

}  // namespace hpcrun
