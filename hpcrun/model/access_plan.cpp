#include "hpcrun/model/access_plan.h"

#include <bit>
#include <cstring>

#include "hpcrun/model/instruction.h"

namespace hpcrun {

namespace {

constexpr uint8_t kStackPointer = 4;
// What a called function may change: rax, rcx, rdx, rsi, rdi, r8 to r11 (System V ABI, 3.2.1).
constexpr uint16_t kCallClobbers = 0x0fc7;
constexpr uint64_t kLongestLoop = 16 * 1024;  // bytes; a longer way back is not taken for a loop's

// Code, read a piece at a time.
class Code {
 public:
  explicit Code(const MemoryReader& reader) noexcept : reader_(reader) {}

  bool decode_at(uint64_t address, Instruction& out) noexcept {
    have(address);
    return decode(bytes_ + (address - begin_), count_ - (address - begin_), address, out);
  }

  // 0: no instruction.
  uint8_t length_at(uint64_t address) noexcept {
    have(address);
    bool is_locked;
    return decode_length(bytes_ + (address - begin_), count_ - (address - begin_), is_locked);
  }

 private:
  void have(uint64_t address) noexcept {
    if (address >= begin_ && address + kMostInstructionBytes <= begin_ + count_) return;
    begin_ = address;
    count_ = reader_.read(reader_.context, address, bytes_, sizeof bytes_);
  }

  const MemoryReader& reader_;
  uint64_t begin_ = 0;
  size_t count_ = 0;
  uint8_t bytes_[128];
};

bool is_of_the_stack(const MemoryOperand& operand) noexcept {
  return operand.base == kStackPointer;
}

void plan_access(const MemoryOperand& operand, const Expression& address, const Instruction& instruction,
                 uint64_t at, int distance, AccessPlan& plan) noexcept {
  if (plan.count == kMostPlannedAccesses) return;
  PlannedAccess& access = plan.accesses[plan.count++];
  access.address = address;
  access.instruction = at;
  access.bytes = operand.bytes;
  access.kind = operand.kind;
  access.segment = operand.segment;
  access.is_locked = instruction.is_locked;
  access.distance = static_cast<int8_t>(distance);
}

// The registers just before an instruction that is over, told by those of the sample.
class PastRegisters {
 public:
  void step_back(const Instruction& instruction) noexcept {
    const bool is_sum = instruction.effect == Instruction::Effect::Add &&
                        instruction.extension == Instruction::Extension::None;
    if (is_sum) since_[instruction.target_register] += instruction.immediate;
    const auto sum = static_cast<uint16_t>(is_sum ? 1u << instruction.target_register : 0);
    lost_ = static_cast<uint16_t>(lost_ | (instruction.written & ~sum));
  }

  bool address(const MemoryOperand& operand, Expression& out) const noexcept {
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

// Where the instructions just before a pc begin.
class Preceding {
 public:
  // False: from `begin` on no instruction ends at the pc.
  bool find(uint64_t begin, uint64_t pc, Code& code) noexcept {
    count_ = 0;
    for (uint64_t at = begin; at < pc; ++count_) {
      const uint8_t length = code.length_at(at);
      if (length == 0) return false;
      addresses_[count_ % kMostPrecedingInstructions] = at;
      at += length;
      if (at > pc) return false;
    }
    return true;
  }

  size_t count() const noexcept {
    return count_ < kMostPrecedingInstructions ? count_ : kMostPrecedingInstructions;
  }

  // `back`: from 1, the last one, to count().
  uint64_t address(size_t back) const noexcept {
    return addresses_[(count_ - back) % kMostPrecedingInstructions];
  }

 private:
  size_t count_ = 0;
  uint64_t addresses_[kMostPrecedingInstructions];
};

// Instructions have lengths of their own, so decoding that begins anywhere goes along with the code's after
// some: where two such ways end in the same instructions, these are the code's.
bool find_from_nearby(uint64_t pc, Code& code, Preceding& preceding) noexcept {
  constexpr uint64_t kStarts[] = {128, 123};  // bytes before the pc
  Preceding other;
  if (!other.find(pc - kStarts[0], pc, code) || !preceding.find(pc - kStarts[1], pc, code)) return false;
  for (size_t back = 1; back <= preceding.count(); ++back)
    if (other.address(back) != preceding.address(back)) return false;
  return true;
}

void plan_preceding(uint64_t begin, uint64_t pc, Code& code, AccessPlan& plan) noexcept {
  constexpr uint64_t kNearby = 192;  // bytes that are decoded no faster from nearby
  if (begin >= pc || pc - begin > kMostPrecedingBytes) return;
  Preceding preceding;
  if (!(pc - begin > kNearby && find_from_nearby(pc, code, preceding)) && !preceding.find(begin, pc, code))
    return;
  PastRegisters registers;
  for (size_t back = 1; back <= preceding.count(); ++back) {
    const uint64_t at = preceding.address(back);
    Instruction instruction;
    if (!code.decode_at(at, instruction)) return;
    // Not by this way: who returns from a call or takes a jump comes from elsewhere.
    if (instruction.flow == Instruction::Flow::Call || instruction.flow == Instruction::Flow::Jump ||
        instruction.flow == Instruction::Flow::End)
      return;
    registers.step_back(instruction);
    for (uint8_t i = 0; i < instruction.memory_count; ++i) {
      Expression address;
      if (is_of_the_stack(instruction.memory[i]) || !registers.address(instruction.memory[i], address))
        continue;
      plan_access(instruction.memory[i], address, instruction, at, -static_cast<int>(back), plan);
    }
  }
}

// The registers when an instruction further on is reached.
class ComingRegisters {
 public:
  explicit ComingRegisters(AccessPlan& plan) noexcept : plan_(plan) {
    for (uint8_t i = 0; i < kGeneralRegisters; ++i) values_[i].base = i;
  }

  bool address(const MemoryOperand& operand, Expression& out) const noexcept {
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

  // The instruction writes there: what was loaded from it is not what will be.
  void note_store(const Expression& address, uint16_t bytes) noexcept {
    if (store_count_ < kMostStores) stores_[store_count_] = {address, bytes};
    ++store_count_;
  }

  void step(const Instruction& instruction) noexcept {
    Expression result;
    const bool follows =
        instruction.effect != Instruction::Effect::None && evaluate_effect(instruction, result);
    forget(instruction.written);
    if (instruction.flow == Instruction::Flow::Call) forget(kCallClobbers);
    if (!follows) return;
    values_[instruction.target_register] = result;
    unknown_ = static_cast<uint16_t>(unknown_ & ~(1u << instruction.target_register));
  }

 private:
  bool is_known(uint8_t number) const noexcept { return !(unknown_ >> number & 1); }
  void forget(uint16_t registers) noexcept { unknown_ = static_cast<uint16_t>(unknown_ | registers); }

  bool evaluate_effect(const Instruction& instruction, Expression& out) noexcept {
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

  bool sum_of(const Instruction& instruction, Expression& out) noexcept {
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

  // What the stack holds for the function is as good a pointer as any.
  bool load(const Instruction& instruction, Expression& out) noexcept {
    const MemoryOperand& operand = instruction.memory[0];
    Expression from;
    const bool is_word = operand.bytes == 1 || operand.bytes == 2 || operand.bytes == 4 || operand.bytes == 8;
    if (!is_word || operand.segment != Segment::None || !address(operand, from) ||
        was_stored(from, operand.bytes))
      return false;
    const auto how = instruction.sign_extends ? DerivedValue::How::LoadSigned : DerivedValue::How::Load;
    return derive(from, how, static_cast<uint8_t>(operand.bytes), out);
  }

  // By the same registers. Another way to the same place is not seen, and gives an address that nobody is at.
  bool was_stored(const Expression& from, uint16_t bytes) const noexcept {
    if (store_count_ > kMostStores) return true;
    for (uint32_t i = 0; i < store_count_; ++i) {
      const Expression& to = stores_[i].address;
      const bool is_same_sum = to.base == from.base && to.index == from.index && to.scale == from.scale;
      if (is_same_sum && to.displacement < from.displacement + bytes &&
          from.displacement < to.displacement + stores_[i].bytes)
        return true;
    }
    return false;
  }

  bool derive(const Expression& of, DerivedValue::How how, uint8_t bytes, Expression& out) noexcept {
    if (plan_.derived_count == kMostDerivedValues) return false;
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
  static constexpr uint32_t kMostStores = 8;

  AccessPlan& plan_;
  Expression values_[kGeneralRegisters];
  uint16_t unknown_ = 0;
  Store stores_[kMostStores];
  uint32_t store_count_ = 0;
};

// Where the thread goes on, or 0: it cannot be said.
uint64_t next_of(const Instruction& instruction, uint64_t at) noexcept {
  switch (instruction.flow) {
    case Instruction::Flow::Jump:
      return instruction.target;
    case Instruction::Flow::Branch:
      // Backwards it is a loop's, which most often goes on.
      if (instruction.target <= at && at - instruction.target < kLongestLoop) return instruction.target;
      return at + instruction.length;
    case Instruction::Flow::End:
      return 0;
    default:
      return at + instruction.length;
  }
}

bool was_visited(const uint64_t* visited, uint32_t count, uint64_t address) noexcept {
  for (uint32_t i = 0; i < count; ++i)
    if (visited[i] == address) return true;
  return false;
}

void plan_coming(uint64_t pc, Code& code, AccessPlan& plan) noexcept {
  ComingRegisters registers(plan);
  uint64_t visited[kMostFollowedInstructions];
  uint64_t at = pc;
  for (uint32_t step = 0; step < kMostFollowedInstructions && at && !was_visited(visited, step, at); ++step) {
    visited[step] = at;
    Instruction instruction;
    if (!code.decode_at(at, instruction)) return;
    for (uint8_t i = 0; i < instruction.memory_count; ++i) {
      const MemoryOperand& operand = instruction.memory[i];
      Expression address;
      if (!registers.address(operand, address)) continue;
      if (!is_of_the_stack(operand))
        plan_access(operand, address, instruction, at, static_cast<int>(step), plan);
      if (writes(operand.kind)) registers.note_store(address, operand.bytes);
    }
    registers.step(instruction);
    at = next_of(instruction, at);
  }
}

// Where nothing is known of what is before the pc, but a loop comes by it again: the begin of the
// instructions that then lead straight to it. Else the pc itself.
uint64_t begin_in_loop(uint64_t pc, Code& code) noexcept {
  uint64_t at = pc, begin = pc;
  for (uint32_t step = 0; step < kMostFollowedInstructions; ++step) {
    Instruction instruction;
    if (!code.decode_at(at, instruction)) return pc;
    const uint64_t next = next_of(instruction, at);
    if (!next) return pc;
    if (next != at + instruction.length) begin = next;
    at = next;
    if (at == pc) return begin;
  }
  return pc;
}

constexpr uint32_t value_bit(uint8_t derived) noexcept {
  return 1u << (kGeneralRegisters + derived);
}

// What a derived value is called when those that are not in `used` are gone.
void renumber(uint32_t used, uint8_t& value) noexcept {
  if (value == Expression::kNoValue || value < kGeneralRegisters) return;
  const uint32_t before = used & ((1u << value) - 1) & ~((1u << kGeneralRegisters) - 1);
  value = static_cast<uint8_t>(kGeneralRegisters + std::popcount(before));
}

void renumber(uint32_t used, Expression& expression) noexcept {
  renumber(used, expression.base);
  renumber(used, expression.index);
}

// Leaves out the values that no address depends on.
void remove_unused(AccessPlan& plan) noexcept {
  uint32_t used = 0;
  for (uint8_t i = 0; i < plan.count; ++i) used |= plan.accesses[i].address.values();
  for (uint8_t i = plan.derived_count; i-- > 0;)
    if (used & value_bit(i)) used |= plan.derived[i].of.values();
  uint8_t kept = 0;
  for (uint8_t i = 0; i < plan.derived_count; ++i) {
    if (!(used & value_bit(i))) continue;
    plan.derived[kept] = plan.derived[i];
    renumber(used, plan.derived[kept++].of);
  }
  plan.derived_count = kept;
  for (uint8_t i = 0; i < plan.count; ++i) renumber(used, plan.accesses[i].address);
}

bool load(const DerivedValue& value, uint64_t address, const MemoryReader& memory, uint64_t& out) noexcept {
  out = 0;
  if (memory.read(memory.context, address, &out, value.bytes) != value.bytes) return false;
  const unsigned unused = 64 - 8 * value.bytes;
  if (value.how == DerivedValue::How::LoadSigned)
    out = static_cast<uint64_t>(static_cast<int64_t>(out << unused) >> unused);
  return true;
}

bool derive_value(const DerivedValue& value, uint64_t of, const MemoryReader& memory,
                  uint64_t& out) noexcept {
  switch (value.how) {
    case DerivedValue::How::Zero32:
      out = static_cast<uint32_t>(of);
      return true;
    case DerivedValue::How::Sign32:
      out = static_cast<uint64_t>(int64_t{static_cast<int32_t>(static_cast<uint32_t>(of))});
      return true;
    default:
      return load(value, of, memory, out);
  }
}

// All registers and derived values. A bit for each that cannot be had.
uint32_t evaluate_values(const AccessPlan& plan, const MachineState& state, const MemoryReader& memory,
                         uint64_t* values) noexcept {
  memcpy(values, state.general, sizeof state.general);
  uint32_t missing = 0;
  for (uint8_t i = 0; i < plan.derived_count; ++i) {
    const DerivedValue& derived = plan.derived[i];
    const bool found =
        !(derived.of.values() & missing) &&
        derive_value(derived, evaluate(derived.of, values), memory, values[kGeneralRegisters + i]);
    if (!found) missing |= value_bit(i);
  }
  return missing;
}

}  // namespace

void plan_accesses(uint64_t begin, uint64_t pc, const MemoryReader& code, AccessPlan& plan) noexcept {
  plan.count = 0;
  plan.derived_count = 0;
  Code window(code);
  plan_preceding(begin == pc ? begin_in_loop(pc, window) : begin, pc, window, plan);
  plan_coming(pc, window, plan);
  remove_unused(plan);
}

uint32_t apply_plan(const AccessPlan& plan, const MachineState& state, const MemoryReader& memory,
                    Access* out) noexcept {
  static_assert(kGeneralRegisters + kMostDerivedValues <= 32);
  uint64_t values[kGeneralRegisters + kMostDerivedValues] = {};
  const uint32_t missing = evaluate_values(plan, state, memory, values);
  uint32_t count = 0;
  for (uint8_t i = 0; i < plan.count; ++i) {
    const PlannedAccess& planned = plan.accesses[i];
    if (planned.address.values() & missing) continue;
    uint64_t address = evaluate(planned.address, values);
    if (planned.segment == Segment::Fs) address += state.fs_base;
    if (planned.segment == Segment::Gs) address += state.gs_base;
    out[count++] = {address,      planned.instruction, planned.bytes,
                    planned.kind, planned.is_locked,   planned.distance};
  }
  return count;
}

}  // namespace hpcrun
