#include "hpcrun/model/stack_effect.h"

#include <Zydis/Decoder.h>
#include <Zydis/Register.h>

namespace hpcrun {
namespace {

using Kind = StackEffect::Kind;

constexpr int64_t kWord = 8;

uint8_t number_of(ZydisRegister reg) noexcept {
  return static_cast<uint8_t>(reg - ZYDIS_REGISTER_RAX);
}

bool is_whole(ZydisRegister reg) noexcept {
  return reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15;
}

// True for memory operands with a base register and no index.
bool is_plain(const ZydisDecodedOperand& operand) noexcept {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.index == ZYDIS_REGISTER_NONE &&
         is_whole(operand.mem.base) && operand.mem.segment != ZYDIS_REGISTER_FS &&
         operand.mem.segment != ZYDIS_REGISTER_GS;
}

// Determines the effect of an instruction that writes to rsp.
void note_new_stack_pointer(ZydisMnemonic mnemonic, const ZydisDecodedOperand& source,
                            StackEffect& out) noexcept {
  const bool is_number = source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  const bool is_register = source.type == ZYDIS_OPERAND_TYPE_REGISTER && is_whole(source.reg.value);
  if ((mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_SUB) && is_number) {
    out.kind = Kind::Adds;
    out.amount = mnemonic == ZYDIS_MNEMONIC_ADD ? source.imm.value.s : -source.imm.value.s;
  } else if (mnemonic == ZYDIS_MNEMONIC_LEA && is_plain(source)) {
    out.kind = source.mem.base == ZYDIS_REGISTER_RSP ? Kind::Adds : Kind::Copies;
    out.reg = number_of(source.mem.base);
    out.amount = source.mem.disp.value;
  } else if (mnemonic == ZYDIS_MNEMONIC_MOV && is_register) {
    out.kind = Kind::Copies;
    out.reg = number_of(source.reg.value);
  } else if (mnemonic == ZYDIS_MNEMONIC_MOV && is_plain(source) && source.mem.base == ZYDIS_REGISTER_RSP) {
    out.kind = Kind::Loads;
    out.amount = source.mem.disp.value;
  } else {
    out.kind = Kind::Unknown;
  }
}

bool is_branch(const ZydisDecodedInstruction& instruction) noexcept {
  return instruction.meta.category == ZYDIS_CATEGORY_COND_BR;
}

// False for vector and two-byte instructions: compilers and assemblers do not use them to write to rsp.
bool may_write_general(const ZydisDecodedInstruction& instruction) noexcept {
  return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
         instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
}

}  // namespace

bool decode_stack_effect(const uint8_t* bytes, size_t count, uint64_t address, StackEffect& out) noexcept {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecoderContext context;
  ZydisDecodedInstruction instruction;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes, count, &instruction)))
    return false;
  out = StackEffect{};
  out.length = instruction.length;
  const bool is_relative = instruction.raw.imm[0].is_relative;
  if (is_relative)
    out.target = address + instruction.length + static_cast<uint64_t>(instruction.raw.imm[0].value.s);
  if (is_branch(instruction)) {
    out.kind = Kind::Branches;
    return true;
  }
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_RET:
      out.kind = Kind::Returns;
      return true;
    case ZYDIS_MNEMONIC_JMP:
      out.kind = is_relative ? Kind::Jumps : Kind::Unknown;
      return true;
    case ZYDIS_MNEMONIC_LEAVE:
      out.kind = Kind::Leaves;
      return true;
    case ZYDIS_MNEMONIC_CALL:
      out.kind = Kind::None;
      return true;
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFQ:
      out.kind = Kind::Pushes;
      return true;
    case ZYDIS_MNEMONIC_POPFQ:
      out.kind = Kind::Adds;
      out.amount = kWord;
      return true;
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_IRETQ:
      out.kind = Kind::Unknown;
      return true;
    default:
      break;
  }
  out.kind = Kind::None;
  if (!may_write_general(instruction) || instruction.operand_count == 0) return true;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeOperands(&decoder, &context, &instruction, operands, instruction.operand_count)))
    return false;
  const ZydisDecodedOperand& target = operands[0];
  if (target.type != ZYDIS_OPERAND_TYPE_REGISTER || !(target.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
    return true;
  if (instruction.mnemonic == ZYDIS_MNEMONIC_POP) {
    out.kind =
        is_whole(target.reg.value) && target.reg.value != ZYDIS_REGISTER_RSP ? Kind::Pops : Kind::Unknown;
    out.reg = number_of(target.reg.value);
  } else if (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, target.reg.value) ==
             ZYDIS_REGISTER_RSP) {
    note_new_stack_pointer(instruction.mnemonic, operands[1], out);
  }
  return true;
}

}  // namespace hpcrun
