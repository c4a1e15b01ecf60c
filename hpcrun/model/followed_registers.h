#pragma once
// Tracks registers along the path of a thread, backward and forward from an interrupted instruction, as sums
// of the sampled registers. Async-signal-safe.

#include "hpcrun/model/access_plan.h"
#include "hpcrun/model/instruction.h"

namespace hpcrun {

// Registers that a called function may change: rax, rcx, rdx, rsi, rdi, r8 to r11 (System V ABI, 3.2.1).
constexpr uint16_t kCallClobbers = 0x0fc7;
constexpr uint8_t kStackPointer = 4;
constexpr uint16_t kStackPointerBit = 1 << kStackPointer;

// Computes the registers just before an instruction that was executed, in terms of those of the sample.
class PastRegisters {
 public:
  void step_back(const Instruction& instruction) noexcept {
    const bool is_sum = instruction.effect == Instruction::Effect::Add &&
                        instruction.extension == Instruction::Extension::None;
    if (is_sum) since_[instruction.target_register] += instruction.immediate;
    since_[kStackPointer] -= instruction.pushed;
    const auto sum = static_cast<uint16_t>(is_sum               ? 1u << instruction.target_register
                                           : instruction.pushed ? kStackPointerBit
                                                                : 0);
    lost_ = static_cast<uint16_t>(lost_ | (instruction.written & ~sum));
  }

  // Returns false if the register had another value, which is not known.
  [[nodiscard]] bool value(uint8_t number, Expression& out) const noexcept {
    if (lost_ >> number & 1) return false;
    out = Expression{};
    out.base = number;
    out.displacement = -since_[number];
    return true;
  }

  [[nodiscard]] bool address(const MemoryOperand& operand, Expression& out) const noexcept {
    out = Expression{};
    out.displacement = operand.displacement;
    if (operand.base != kNoRegister) {
      if (lost_ >> operand.base & 1) return false;
      out.base = operand.base;
      out.displacement -= since_[operand.base];
    }
    if (operand.index != kNoRegister) {
      if (lost_ >> operand.index & 1) return false;
      out.index = operand.index;
      out.scale = operand.scale;
      out.displacement -= since_[operand.index] * operand.scale;
    }
    return true;
  }

 private:
  int64_t since_[kGeneralRegisters] = {};
  uint16_t lost_ = 0;
};

// Computes the registers at an instruction on the thread's path, in terms of those of the sample. Adds values
// that are derived on the path to the plan.
class ComingRegisters {
 public:
  explicit ComingRegisters(AccessPlan& plan) noexcept : plan_(plan) {
    for (uint8_t i = 0; i < kGeneralRegisters; ++i) values_[i].base = i;
  }

  // Starts at an instruction that was executed before the sample, with what is known of the registers there.
  ComingRegisters(AccessPlan& plan, const PastRegisters& then) noexcept : plan_(plan) {
    for (uint8_t i = 0; i < kGeneralRegisters; ++i)
      if (!then.value(i, values_[i])) mark_unknown(static_cast<uint16_t>(1u << i));
  }

  [[nodiscard]] bool address(const MemoryOperand& operand, Expression& out) const noexcept {
    Expression sum;
    sum.displacement = operand.displacement;
    if (operand.base != kNoRegister && !(is_known(operand.base) && add(sum, values_[operand.base], 1, sum)))
      return false;
    if (operand.index != kNoRegister &&
        !(is_known(operand.index) && add(sum, values_[operand.index], operand.scale, sum)))
      return false;
    out = sum;
    return true;
  }

  // Records that an instruction writes there: a value loaded from there would be outdated.
  void note_store(const Expression& address, uint16_t bytes) noexcept {
    if (store_count_ < kMaxStores) stores_[store_count_] = {address, bytes};
    ++store_count_;
  }

  void step(const Instruction& instruction) noexcept {
    if (instruction.pushed) return push(instruction);
    Expression result;
    const bool follows =
        instruction.effect != Instruction::Effect::None && evaluate_effect(instruction, result);
    mark_unknown(instruction.written);
    if (instruction.flow == Instruction::Flow::Call) mark_unknown(kCallClobbers);
    if (!follows) return;
    values_[instruction.target_register] = result;
    unknown_ = static_cast<uint16_t>(unknown_ & ~(1u << instruction.target_register));
  }

 private:
  void push(const Instruction& instruction) noexcept {
    Expression& pointer = values_[kStackPointer];
    pointer.displacement -= instruction.pushed;
    mark_unknown(instruction.written & static_cast<uint16_t>(~kStackPointerBit));
  }

  [[nodiscard]] bool is_known(uint8_t number) const noexcept { return !(unknown_ >> number & 1); }
  void mark_unknown(uint16_t registers) noexcept { unknown_ = static_cast<uint16_t>(unknown_ | registers); }

  [[nodiscard]] bool evaluate_effect(const Instruction& instruction, Expression& out) noexcept {
    if (!sum_of(instruction, out)) return false;
    switch (instruction.extension) {
      case Instruction::Extension::Zero32:
        return derive(out, DerivedValue::How::Zero32, 0, out);
      case Instruction::Extension::Sign32:
        return derive(out, DerivedValue::How::Sign32, 0, out);
      default:
        return true;
    }
  }

  [[nodiscard]] bool sum_of(const Instruction& instruction, Expression& out) noexcept {
    const Expression& target = values_[instruction.target_register];
    Expression immediate;
    immediate.displacement = instruction.immediate;
    switch (instruction.effect) {
      case Instruction::Effect::Move:
        out = values_[instruction.source_register];
        return is_known(instruction.source_register);
      case Instruction::Effect::Constant:
        out = immediate;
        return true;
      case Instruction::Effect::Add:
        return is_known(instruction.target_register) && add(target, immediate, 1, out);
      case Instruction::Effect::AddRegister:
        return is_known(instruction.target_register) && is_known(instruction.source_register) &&
               add(target, values_[instruction.source_register], 1, out);
      case Instruction::Effect::Shift:
        return is_known(instruction.target_register) && instruction.immediate >= 0 &&
               instruction.immediate <= 3 &&
               add({}, target, static_cast<uint8_t>(1u << instruction.immediate), out);
      case Instruction::Effect::Address:
        return address(instruction.memory[0], out);
      case Instruction::Effect::Load:
        return load(instruction, out);
      default:
        return false;
    }
  }

  // Derives a value loaded from memory. Includes the stack, where functions keep pointers.
  [[nodiscard]] bool load(const Instruction& instruction, Expression& out) noexcept {
    const MemoryOperand& operand = instruction.memory[0];
    Expression from;
    const bool is_word = operand.bytes == 1 || operand.bytes == 2 || operand.bytes == 4 || operand.bytes == 8;
    if (!is_word || operand.segment != Segment::None || !address(operand, from) ||
        was_stored(from, operand.bytes))
      return false;
    const auto how = instruction.sign_extends ? DerivedValue::How::LoadSigned : DerivedValue::How::Load;
    return derive(from, how, static_cast<uint8_t>(operand.bytes), out);
  }

  // True if the path writes there, using the same registers. A store through other registers is not detected;
  // the derived address is then wrong, and no thread accesses it.
  [[nodiscard]] bool was_stored(const Expression& from, uint16_t bytes) const noexcept {
    if (store_count_ > kMaxStores) return true;
    for (uint32_t i = 0; i < store_count_; ++i) {
      const Expression& to = stores_[i].address;
      const bool is_same_sum = to.base == from.base && to.index == from.index && to.scale == from.scale;
      if (is_same_sum && to.displacement < from.displacement + bytes &&
          from.displacement < to.displacement + stores_[i].bytes)
        return true;
    }
    return false;
  }

  [[nodiscard]] bool derive(const Expression& of, DerivedValue::How how, uint8_t bytes,
                            Expression& out) noexcept {
    if (plan_.derived_count == kMaxDerivedValues) return false;
    const uint8_t number = plan_.derived_count++;
    plan_.derived[number] = {of, how, bytes};
    out = Expression{};
    out.base = static_cast<uint8_t>(kGeneralRegisters + number);
    return true;
  }

  struct Store {
    Expression address;
    uint16_t bytes;
  };
  static constexpr uint32_t kMaxStores = 8;

  AccessPlan& plan_;
  Expression values_[kGeneralRegisters];
  uint16_t unknown_ = 0;
  Store stores_[kMaxStores];
  uint32_t store_count_ = 0;
};

}  // namespace hpcrun
