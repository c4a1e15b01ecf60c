#include "hpcrun/model/access_plan.h"

#include <algorithm>
#include <bit>
#include <new>

#include "hpcrun/model/followed_registers.h"
#include "hpcrun/model/instruction.h"

namespace hpcrun {

namespace {

constexpr uint64_t kLongestLoop = 16 * 1024;  // bytes; a longer backward branch is not considered a loop's

// Reads code in pieces.
class Code {
 public:
  Code(const MemoryReader& reader, PlanFor purpose) noexcept
      : reader_(reader),
        stack_(purpose == PlanFor::EveryAccess ? StackAccesses::Included : StackAccesses::Excluded) {}

  // True if accesses relative to the stack pointer are planned.
  bool includes_stack() const noexcept { return stack_ == StackAccesses::Included; }

  bool decode_at(uint64_t address, Instruction& out) noexcept {
    have(address);
    return decode(bytes_ + (address - begin_), count_ - (address - begin_), address, out, stack_);
  }

  // Returns 0 if there is no instruction.
  uint8_t length_at(uint64_t address) noexcept {
    have(address);
    bool is_locked;
    return decode_length(bytes_ + (address - begin_), count_ - (address - begin_), is_locked);
  }

 private:
  void have(uint64_t address) noexcept {
    if (address >= begin_ && address + kMaxInstructionBytes <= begin_ + count_) return;
    begin_ = address;
    count_ = reader_.read(reader_.context, address, bytes_, sizeof bytes_);
  }

  const MemoryReader& reader_;
  StackAccesses stack_;
  uint64_t begin_ = 0;
  size_t count_ = 0;
  uint8_t bytes_[128];
};

bool is_left_out(const MemoryOperand& operand, const Code& code) noexcept {
  return operand.base == kStackPointer && !code.includes_stack();
}

void plan_access(const MemoryOperand& operand, const Expression& address, const Instruction& instruction,
                 uint64_t at, int distance, AccessPlan& plan, bool is_placed = true) noexcept {
  if (plan.count == kMaxPlannedAccesses) return;
  PlannedAccess& access = plan.accesses[plan.count++];
  access.address = is_placed ? address : Expression{};
  access.is_placed = is_placed;
  access.instruction = at;
  access.bytes = operand.bytes;
  access.kind = operand.kind;
  access.segment = operand.segment;
  access.is_locked = instruction.is_locked;
  access.distance = static_cast<int8_t>(distance);
}

// Finds the starts of the instructions just before a pc.
class Preceding {
 public:
  // Returns false if decoding from `begin` does not end an instruction at the pc.
  bool find(uint64_t begin, uint64_t pc, Code& code) noexcept {
    count_ = 0;
    for (uint64_t at = begin; at < pc; ++count_) {
      const uint8_t length = code.length_at(at);
      if (length == 0) return false;
      addresses_[count_ % kMaxReplayedInstructions] = at;
      at += length;
      if (at > pc) return false;
    }
    return true;
  }

  size_t count() const noexcept {
    return count_ < kMaxReplayedInstructions ? count_ : kMaxReplayedInstructions;
  }

  // `back`: from 1, the last instruction, to count().
  uint64_t address(size_t back) const noexcept {
    return addresses_[(count_ - back) % kMaxReplayedInstructions];
  }

 private:
  size_t count_ = 0;
  uint64_t addresses_[kMaxReplayedInstructions];
};

// Decodes from nearby addresses. Decoding that starts anywhere synchronizes with the actual instructions
// after a few. If two starts lead to the same last instructions, these are the actual ones.
bool find_from_nearby(uint64_t pc, Code& code, Preceding& preceding, Preceding& other) noexcept {
  constexpr uint64_t kStarts[] = {128, 123};  // bytes before the pc
  if (!other.find(pc - kStarts[0], pc, code) || !preceding.find(pc - kStarts[1], pc, code)) return false;
  for (size_t back = 1; back <= preceding.count(); ++back)
    if (back > other.count() || other.address(back) != preceding.address(back)) return false;
  return true;
}

// Returns the address where the thread continues, or 0 if it cannot be determined.
uint64_t next_of(const Instruction& instruction, uint64_t at) noexcept {
  switch (instruction.flow) {
    case Instruction::Flow::Jump:
      return instruction.target;
    case Instruction::Flow::Branch:
      // A backward branch is a loop's, which usually continues.
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

// Returns the last address at or before the pc that a jump on the path from the pc leads to, as in a loop;
// otherwise `begin`.
uint64_t last_entry(uint64_t begin, uint64_t pc, Code& code) noexcept {
  uint64_t entry = begin, at = pc;
  for (uint32_t step = 0; step < kMaxFollowedInstructions; ++step) {
    Instruction instruction;
    if (!code.decode_at(at, instruction)) break;
    const uint64_t next = next_of(instruction, at);
    if (!next) break;
    if (next != at + instruction.length && next <= pc && next > entry) entry = next;
    if (next == pc || (next < pc && at >= pc)) break;
    at = next;
  }
  return entry;
}

// True if the instruction before may not be the one executed before: after a call returns, or at the target
// of a jump.
bool ends_the_way(const Instruction& instruction) noexcept {
  return instruction.flow == Instruction::Flow::Call || instruction.flow == Instruction::Flow::Jump ||
         instruction.flow == Instruction::Flow::End;
}

// Plans the accesses of the instructions just before the pc. The sampled registers give most of the
// addresses. A load into its own base register, which unoptimized code has everywhere, destroys its address.
// Such addresses are recomputed by replaying the instructions that led there.
class PrecedingAccesses {
 public:
  // `replayed`: memory for the registers during replay.
  PrecedingAccesses(const Preceding& preceding, Code& code, ComingRegisters& replayed,
                    AccessPlan& plan) noexcept
      : preceding_(preceding), code_(code), replayed_(replayed), plan_(plan) {}

  // `entry`: an address that jumps lead to. Registers before it depend on the path taken.
  void plan(uint64_t entry, uint64_t pc) noexcept {
    entry = std::max(entry, last_join(pc));
    for (size_t back = 1; back <= preceding_.count(); ++back) {
      const uint64_t at = preceding_.address(back);
      const bool is_near = back <= kMaxPrecedingInstructions;
      Instruction instruction;
      const bool is_on_the_way = code_.decode_at(at, instruction) && !ends_the_way(instruction);
      if (!is_on_the_way || (!is_near && (at < entry || !unplaced_))) break;
      before_.step_back(instruction);
      place(back, instruction);
      if (at < entry) continue;
      start_ = back;
      at_start_ = before_;
    }
    if (unplaced_) replay();
  }

 private:
  struct Store {
    Expression address;
    uint16_t bytes;
  };
  static_assert(2 * kMaxPrecedingInstructions + 1 < 32);

  static uint32_t operand_bit(size_t back, uint8_t operand) noexcept { return 1u << (2 * back + operand); }

  // Returns the last target of a branch among the instructions that was not taken; 0: there is none.
  uint64_t last_join(uint64_t pc) noexcept {
    uint64_t join = 0;
    for (size_t back = 1; back <= preceding_.count(); ++back) {
      Instruction instruction;
      if (!code_.decode_at(preceding_.address(back), instruction)) break;
      if (instruction.target <= pc) join = std::max(join, instruction.target);
    }
    return join;
  }

  void place(size_t back, const Instruction& instruction) noexcept {
    for (uint8_t i = 0; i < instruction.memory_count; ++i) {
      const MemoryOperand& operand = instruction.memory[i];
      Expression address;
      const bool is_known = before_.address(operand, address);
      if (is_known && writes(operand.kind)) stores_[store_count_++] = {address, operand.bytes};
      if (back > kMaxPrecedingInstructions || is_left_out(operand, code_)) continue;
      if (is_known) {
        plan_access(operand, address, instruction, preceding_.address(back), -static_cast<int>(back), plan_);
        continue;
      }
      unplaced_ |= operand_bit(back, i);
      if (back == 1 && instruction.memory_count == 1)
        plan_.unplaced = {operand.bytes, operand.kind, instruction.is_locked};
    }
  }

  void replay() noexcept {
    ComingRegisters& registers = *new (&replayed_) ComingRegisters(plan_, at_start_);
    for (uint32_t i = 0; i < store_count_; ++i) registers.note_store(stores_[i].address, stores_[i].bytes);
    for (size_t back = start_; back >= 1; --back) {
      const uint64_t at = preceding_.address(back);
      Instruction instruction;
      if (!code_.decode_at(at, instruction)) return;
      for (uint8_t i = 0; i < instruction.memory_count && back <= kMaxPrecedingInstructions; ++i) {
        Expression address;
        if (!(unplaced_ & operand_bit(back, i)) || !registers.address(instruction.memory[i], address))
          continue;
        plan_access(instruction.memory[i], address, instruction, at, -static_cast<int>(back), plan_);
        if (back == 1) plan_.unplaced = {};
      }
      registers.step(instruction);
    }
  }

  const Preceding& preceding_;
  Code& code_;
  ComingRegisters& replayed_;
  AccessPlan& plan_;
  uint32_t unplaced_ = 0;   // operands
  PastRegisters before_;    // just before the current instruction
  PastRegisters at_start_;  // just before the instruction at which replay starts
  size_t start_ = 0;        // its distance back; 0: there is none
  Store stores_[2 * kMaxReplayedInstructions];
  uint32_t store_count_ = 0;
};

// Returns the start of the instructions that lead straight to the pc in a loop, if nothing is known of the
// code before it. Returns the pc itself if there is no loop.
uint64_t begin_in_loop(uint64_t pc, Code& code) noexcept {
  uint64_t at = pc, begin = pc;
  for (uint32_t step = 0; step < kMaxFollowedInstructions; ++step) {
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

// Plans one pc. Allocated in the caller's workspace.
class Planning {
 public:
  Planning(const MemoryReader& code, PlanFor purpose, AccessPlan& plan) noexcept
      : code_(code, purpose),
        registers_(plan),
        preceding_accesses_(preceding_, code_, registers_, plan),
        plan_(plan) {}

  void run(uint64_t begin, uint64_t pc) noexcept {
    plan_preceding(begin == pc ? begin_in_loop(pc, code_) : begin, pc);
    plan_coming(pc);
  }

 private:
  void plan_preceding(uint64_t begin, uint64_t pc) noexcept {
    constexpr uint64_t kNearby = 192;  // decoding fewer bytes from nearby is no faster
    if (begin >= pc || pc - begin > kMaxPrecedingBytes) return;
    if ((pc - begin > kNearby && find_from_nearby(pc, code_, preceding_, other_)) ||
        preceding_.find(begin, pc, code_)) {
      plan_.preceding = preceding_.address(1);
      preceding_accesses_.plan(last_entry(begin, pc, code_), pc);
    }
  }

  static bool leaves_function(const Instruction& instruction) noexcept {
    return instruction.flow == Instruction::Flow::Call || instruction.flow == Instruction::Flow::End;
  }

  void plan_operands(ComingRegisters& registers, const Instruction& instruction, uint64_t at,
                     uint32_t step) noexcept {
    for (uint8_t i = 0; i < instruction.memory_count; ++i) {
      const MemoryOperand& operand = instruction.memory[i];
      Expression address;
      const bool is_placed = registers.address(operand, address);
      if (!is_placed && !code_.includes_stack()) continue;
      if (!is_left_out(operand, code_))
        plan_access(operand, address, instruction, at, static_cast<int>(step), plan_, is_placed);
      if (is_placed && writes(operand.kind)) registers.note_store(address, operand.bytes);
    }
  }

  void plan_coming(uint64_t pc) noexcept {
    ComingRegisters& registers = *new (&registers_) ComingRegisters(plan_);
    uint64_t at = pc;
    for (uint32_t step = 0; step < kMaxFollowedInstructions && at && !was_visited(visited_, step, at);
         ++step) {
      visited_[step] = at;
      Instruction instruction;
      if (!code_.decode_at(at, instruction)) return;
      plan_operands(registers, instruction, at, step);
      if (code_.includes_stack() && leaves_function(instruction)) return;
      registers.step(instruction);
      at = next_of(instruction, at);
    }
  }

  Code code_;
  Preceding preceding_;
  Preceding other_;
  ComingRegisters registers_;
  PrecedingAccesses preceding_accesses_;
  uint64_t visited_[kMaxFollowedInstructions];
  AccessPlan& plan_;
};

static_assert(sizeof(Planning) <= sizeof(PlanWorkspace) && alignof(Planning) <= alignof(PlanWorkspace));

constexpr uint32_t value_bit(uint8_t derived) noexcept {
  return 1u << (kGeneralRegisters + derived);
}

// Renumbers a derived value after the values that are not in `used` were removed.
void renumber(uint32_t used, uint8_t& value) noexcept {
  if (value == Expression::kNoValue || value < kGeneralRegisters) return;
  const uint32_t before = used & ((1u << value) - 1) & ~((1u << kGeneralRegisters) - 1);
  value = static_cast<uint8_t>(kGeneralRegisters + std::popcount(before));
}

void renumber(uint32_t used, Expression& expression) noexcept {
  renumber(used, expression.base);
  renumber(used, expression.index);
}

// Removes the values that no address depends on.
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

}  // namespace

void plan_accesses(uint64_t begin, uint64_t pc, const MemoryReader& code, PlanWorkspace& workspace,
                   AccessPlan& plan, PlanFor purpose) noexcept {
  plan.count = 0;
  plan.derived_count = 0;
  plan.unplaced = {};
  plan.preceding = 0;
  (new (workspace.bytes) Planning(code, purpose, plan))->run(begin, pc);
  remove_unused(plan);
}

}  // namespace hpcrun
