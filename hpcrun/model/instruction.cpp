#include "hpcrun/model/instruction.h"

#include <Zydis/Decoder.h>
#include <Zydis/Register.h>

namespace hpcrun {

namespace {

using Zydis = ZydisDecodedInstruction;

// Returns the number of the general register that contains this one, or kNoRegister.
uint8_t general(ZydisRegister name) noexcept {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return kNoRegister;
  return static_cast<uint8_t>(whole - ZYDIS_REGISTER_RAX);
}

bool is_general(const ZydisDecodedOperand& operand) noexcept {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && general(operand.reg.value) != kNoRegister;
}

MemoryOperand memory_operand(const Zydis& instruction, const ZydisDecodedOperand& operand,
                             uint64_t address) noexcept {
  MemoryOperand out;
  auto displacement = static_cast<uint64_t>(operand.mem.disp.value);
  if (operand.mem.base == ZYDIS_REGISTER_RIP)
    displacement += address + instruction.length;
  else
    out.base = general(operand.mem.base);
  out.displacement = static_cast<int64_t>(displacement);
  out.index = general(operand.mem.index);
  out.scale = operand.mem.scale ? operand.mem.scale : 1;
  out.segment = Segment::None;
  if (operand.mem.segment == ZYDIS_REGISTER_FS) out.segment = Segment::Fs;
  if (operand.mem.segment == ZYDIS_REGISTER_GS) out.segment = Segment::Gs;
  out.bytes = static_cast<uint16_t>(operand.size / 8);
  const bool is_read = operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ;
  const bool is_written = operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
  out.kind = is_read && is_written ? AccessKind::ReadWrite
             : is_written          ? AccessKind::Write
                                   : AccessKind::Read;
  return out;
}

// Excludes 32-bit addresses, vectors of addresses, and prefetches.
bool is_access(const Zydis& instruction, const ZydisDecodedOperand& operand) noexcept {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
         operand.size >= 8 && operand.size <= 8 * kLineBytes && instruction.address_width == 64 &&
         instruction.meta.category != ZYDIS_CATEGORY_PREFETCH &&
         instruction.meta.category != ZYDIS_CATEGORY_NOP &&
         instruction.meta.category != ZYDIS_CATEGORY_WIDENOP;
}

// True for implicit stack accesses: push, pop, call, ret.
bool is_of_the_stack(const ZydisDecodedOperand& operand) noexcept {
  return operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && operand.mem.base == ZYDIS_REGISTER_RSP;
}

// Returns the implicit stack access, relative to the registers before the instruction.
MemoryOperand stack_operand(const Zydis& instruction, const ZydisDecodedOperand& operand) noexcept {
  constexpr uint8_t kStackPointer = 4, kFramePointer = 5;
  MemoryOperand out;
  out.base = instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE ? kFramePointer : kStackPointer;
  out.bytes = static_cast<uint16_t>(operand.size / 8);
  const bool is_written = operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
  out.displacement = is_written ? -int64_t{out.bytes} : 0;
  out.kind = is_written ? AccessKind::Write : AccessKind::Read;
  return out;
}

// Notes how push and pop move the stack pointer, unless that is their operand.
void note_push(const Zydis& instruction, const ZydisDecodedOperand* operands, Instruction& out) noexcept {
  const bool is_pop = instruction.meta.category == ZYDIS_CATEGORY_POP;
  if (!is_pop && instruction.meta.category != ZYDIS_CATEGORY_PUSH) return;
  if (instruction.operand_width != 64 ||
      (is_general(operands[0]) && operands[0].reg.value == ZYDIS_REGISTER_RSP))
    return;
  out.pushed = is_pop ? -8 : 8;
}

void note_flow(const Zydis& instruction, const ZydisDecodedOperand* operands, uint64_t address,
               Instruction& out) noexcept {
  const bool is_fixed = instruction.operand_count && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                        operands[0].imm.is_relative;
  if (is_fixed) out.target = address + instruction.length + operands[0].imm.value.u;
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      out.flow = Instruction::Flow::Branch;
      break;
    case ZYDIS_CATEGORY_UNCOND_BR:
      out.flow = is_fixed ? Instruction::Flow::Jump : Instruction::Flow::End;
      break;
    case ZYDIS_CATEGORY_CALL:
      out.flow = Instruction::Flow::Call;
      break;
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_INTERRUPT:
      out.flow = Instruction::Flow::End;
      break;
    default:
      break;
  }
  if (instruction.mnemonic == ZYDIS_MNEMONIC_UD2 || instruction.mnemonic == ZYDIS_MNEMONIC_HLT)
    out.flow = Instruction::Flow::End;
}

struct Operands {
  const ZydisDecodedOperand& target;
  const ZydisDecodedOperand& source;
};

void note_move(const Operands& operands, Instruction& out) noexcept {
  if (operands.target.size < 32) return;  // keeps the upper part
  const bool is_narrow = operands.target.size == 32;
  if (operands.source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    out.effect = Instruction::Effect::Constant;
    out.immediate = is_narrow ? static_cast<int64_t>(static_cast<uint32_t>(operands.source.imm.value.u))
                              : operands.source.imm.value.s;
  } else if (is_general(operands.source)) {
    out.effect = Instruction::Effect::Move;
    out.source_register = general(operands.source.reg.value);
    if (is_narrow) out.extension = Instruction::Extension::Zero32;
  } else if (out.memory_count) {
    out.effect = Instruction::Effect::Load;
  }
}

void note_extending_move(const Operands& operands, bool is_signed, Instruction& out) noexcept {
  if (out.memory_count) {
    // A negative 32-bit number would have to be truncated again.
    if (is_signed && operands.target.size != 64) return;
    out.effect = Instruction::Effect::Load;
    out.sign_extends = is_signed;
  } else if (is_general(operands.source) && operands.source.size == 32 && operands.target.size == 64) {
    out.effect = Instruction::Effect::Move;
    out.source_register = general(operands.source.reg.value);
    out.extension = is_signed ? Instruction::Extension::Sign32 : Instruction::Extension::Zero32;
  }
}

void note_sum(const Operands& operands, int sign, Instruction& out) noexcept {
  if (operands.target.size < 32) return;
  if (operands.source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    out.effect = Instruction::Effect::Add;
    out.immediate = sign * operands.source.imm.value.s;
  } else if (is_general(operands.source) && sign > 0) {
    out.effect = Instruction::Effect::AddRegister;
    out.source_register = general(operands.source.reg.value);
  } else {
    return;
  }
  if (operands.target.size == 32) out.extension = Instruction::Extension::Zero32;
}

void note_effect(const Zydis& instruction, const ZydisDecodedOperand* operands, uint64_t address,
                 Instruction& out) noexcept {
  if (!instruction.operand_count || !is_general(operands[0])) return;
  out.target_register = general(operands[0].reg.value);
  const Operands both{operands[0], operands[1]};
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
      return note_move(both, out);
    case ZYDIS_MNEMONIC_MOVZX:
      return note_extending_move(both, false, out);
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
      return note_extending_move(both, true, out);
    case ZYDIS_MNEMONIC_LEA:
      if (instruction.address_width != 64 || operands[0].size < 32) return;
      out.effect = Instruction::Effect::Address;
      out.memory[0] = memory_operand(instruction, operands[1], address);
      if (operands[0].size == 32) out.extension = Instruction::Extension::Zero32;
      return;
    case ZYDIS_MNEMONIC_ADD:
      return note_sum(both, 1, out);
    case ZYDIS_MNEMONIC_SUB:
      return note_sum(both, -1, out);
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
      if (operands[0].size < 32) return;
      out.effect = Instruction::Effect::Add;
      out.immediate = instruction.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
      if (operands[0].size == 32) out.extension = Instruction::Extension::Zero32;
      return;
    case ZYDIS_MNEMONIC_SHL:
      if (operands[0].size != 64 || operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return;
      out.effect = Instruction::Effect::Shift;
      out.immediate = operands[1].imm.value.s;
      return;
    case ZYDIS_MNEMONIC_XOR:
      if (operands[0].size < 32 || !is_general(operands[1]) || operands[0].reg.value != operands[1].reg.value)
        return;
      out.effect = Instruction::Effect::Constant;
      return;
    default:
      return;
  }
}

uint16_t written_registers(const Zydis& instruction, const ZydisDecodedOperand* operands) noexcept {
  uint16_t written = 0;
  for (uint8_t i = 0; i < instruction.operand_count; ++i) {
    if (!(operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) || !is_general(operands[i])) continue;
    written = static_cast<uint16_t>(written | 1u << general(operands[i].reg.value));
  }
  return written;
}

}  // namespace

uint8_t decode_length(const uint8_t* bytes, size_t count, bool& is_locked) noexcept {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  Zydis instruction;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes, count, &instruction))) return 0;
  constexpr uint8_t kOfRegisters = 3;
  const bool exchanges = instruction.mnemonic == ZYDIS_MNEMONIC_XCHG &&
                         instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM &&
                         instruction.raw.modrm.mod != kOfRegisters;
  is_locked = exchanges || instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK;
  return instruction.length;
}

bool decode(const uint8_t* bytes, size_t count, uint64_t address, Instruction& out,
            StackAccesses stack) noexcept {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  Zydis instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, count, &instruction, operands))) return false;
  out = Instruction{};
  out.length = instruction.length;
  for (uint8_t i = 0; i < instruction.operand_count; ++i) {
    if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[i].mem.base == ZYDIS_REGISTER_RIP)
      out.rip_offset_at = instruction.raw.disp.offset;
    if (!is_access(instruction, operands[i]) || out.memory_count == 2) continue;
    const bool is_implicit = is_of_the_stack(operands[i]);
    if (is_implicit && stack == StackAccesses::Excluded) continue;
    out.memory[out.memory_count++] = is_implicit ? stack_operand(instruction, operands[i])
                                                 : memory_operand(instruction, operands[i], address);
  }
  const bool exchanges = instruction.mnemonic == ZYDIS_MNEMONIC_XCHG && out.memory_count;
  out.is_locked = exchanges || instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK;
  out.written = written_registers(instruction, operands);
  note_push(instruction, operands, out);
  note_flow(instruction, operands, address, out);
  note_effect(instruction, operands, address, out);
  return true;
}

}  // namespace hpcrun
