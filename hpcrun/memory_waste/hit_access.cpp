#include "hpcrun/memory_waste/hit_access.h"

#include <cstring>

#include "hpcrun/memory_waste/next_access.h"
#include "hpcrun/model/followed_registers.h"

namespace hpcrun {

namespace {

constexpr uint8_t kSource = 6, kDestination = 7;  // rsi and rdi, of string instructions
constexpr uint64_t kWord = 8;

Touch touch_of(AccessKind kind) noexcept {
  if (kind == AccessKind::ReadWrite) return Touch::LoadAndStore;
  return writes(kind) ? Touch::Store : Touch::Load;
}

bool is_changed(const WatchedBytes& watched, const uint8_t* now) noexcept {
  return memcmp(watched.value, now, watched.count) != 0;
}

bool is_system_call(uint64_t instruction, const MemoryReader& code) noexcept {
  uint8_t bytes[2];
  return code.read(code.context, instruction, bytes, sizeof bytes) == sizeof bytes && bytes[0] == 0x0f &&
         bytes[1] == 0x05;
}

uint64_t stack_pointer(const HitAt& at) noexcept {
  return at.state.general[kStackPointer];
}

// An access of the plan just before the pc.
bool find_planned(const WatchedBytes& watched, const HitAt& at, const AccessPlan& plan,
                  HitAccess& out) noexcept {
  Access accesses[kMaxPlannedAccesses];
  const uint32_t count = apply_plan(plan, at.state, at.memory, accesses);
  bool is_found = false;
  for (uint32_t i = 0; i < count; ++i) {
    const Access& access = accesses[i];
    const ByteMask touched =
        access.distance == -1 ? overlap(watched, access.address, access.bytes) : ByteMask{0};
    if (!touched) continue;
    // An instruction that loads from the bytes and stores to them.
    out.touch = is_found && touch_of(access.kind) != out.touch ? Touch::LoadAndStore : touch_of(access.kind);
    out.touched |= touched;
    out.instruction = access.instruction;
    is_found = true;
  }
  return is_found;
}

// A string instruction advances its registers after each element.
bool find_string(const WatchedBytes& watched, const HitAt& at, const Instruction& instruction,
                 HitAccess& out) noexcept {
  for (uint8_t i = 0; i < instruction.memory_count; ++i) {
    const MemoryOperand& operand = instruction.memory[i];
    if (operand.base != kSource && operand.base != kDestination) continue;
    const uint64_t end = at.state.general[operand.base];
    if (watched.address >= end || watched.address + watched.count + kStringChunk < end) continue;
    out.touch = touch_of(operand.kind);
    out.touched = all_bytes(watched.count);
    if (writes(operand.kind)) return true;
  }
  return out.touched;
}

// The address of the access is lost, but the instruction has no other one.
bool find_unplaced(const WatchedBytes& watched, const AccessPlan& plan, HitAccess& out) noexcept {
  if (!plan.unplaced.bytes) return false;
  out.touch = touch_of(plan.unplaced.kind);
  out.touched = all_bytes(watched.count);
  out.instruction = plan.preceding;
  return true;
}

// A return loads the word below the stack pointer. The call before the pc is the one that returned.
bool find_return(const WatchedBytes& watched, const HitAt& at, const AccessPlan& plan,
                 const Instruction& preceding, HitAccess& out) noexcept {
  if (preceding.flow != Instruction::Flow::Call) return false;
  out.touched = overlap(watched, stack_pointer(at) - kWord, kWord);
  if (!out.touched) return false;
  out.touch = Touch::Load;
  out.instruction = plan.preceding;
  return true;
}

bool find_before(const WatchedBytes& watched, const HitAt& at, const AccessPlan& plan,
                 HitAccess& out) noexcept {
  Instruction preceding;
  if (!plan.preceding || !decode_at(plan.preceding, at.memory, preceding)) return false;
  if (preceding.flow == Instruction::Flow::Call) return find_return(watched, at, plan, preceding, out);
  if (find_planned(watched, at, plan, out)) return true;
  out.instruction = plan.preceding;
  if (is_system_call(plan.preceding, at.memory)) {
    out.touch = is_changed(watched, at.now) ? Touch::Store : Touch::KernelLoad;
    out.touched = all_bytes(watched.count);
    return true;
  }
  return find_string(watched, at, preceding, out) || find_unplaced(watched, plan, out);
}

bool find_repeated(const WatchedBytes& watched, const HitAt& at, HitAccess& out) noexcept {
  Instruction instruction;
  if (!is_repeated(at.pc, at.memory) || !decode_at(at.pc, at.memory, instruction)) return false;
  out.instruction = at.pc;
  return find_string(watched, at, instruction, out);
}

// A call stores the return address where the stack pointer is now.
bool find_call(const WatchedBytes& watched, const HitAt& at, uint64_t instruction, HitAccess& out) noexcept {
  out.touched = overlap(watched, stack_pointer(at), kWord);
  if (!out.touched) return false;
  Instruction call;
  if (!instruction || !decode_at(instruction, at.memory, call) || call.flow != Instruction::Flow::Call)
    return false;
  out.touch = Touch::Store;
  out.instruction = instruction;
  out.is_call = true;
  return true;
}

uint64_t top_of_stack(const HitAt& at) noexcept {
  uint64_t word = 0;
  return at.memory.read(at.memory.context, stack_pointer(at), &word, sizeof word) == sizeof word ? word : 0;
}

}  // namespace

HitAccess hit_access(const WatchedBytes& watched, const HitAt& at, PlanCache& plans,
                     uint64_t (*begin_of)(void* context, uint64_t address) noexcept, void* context) noexcept {
  HitAccess access;
  if (find_before(watched, at, plans.plan(at.begin, at.pc, at.memory, PlanFor::EveryAccess), access))
    return access;
  if (find_repeated(watched, at, access = {})) return access;
  if (!overlap(watched, stack_pointer(at), kWord)) return {};
  const uint64_t back = top_of_stack(at);
  const AccessPlan& caller = plans.plan(begin_of(context, back), back, at.memory, PlanFor::EveryAccess);
  return find_call(watched, at, caller.preceding, access = {}) ? access : HitAccess{};
}

bool is_after(uint64_t instruction, const HitAt& at) noexcept {
  Instruction sampled;
  if (!decode_at(instruction, at.memory, sampled)) return false;
  const uint64_t next = instruction + sampled.length;
  switch (sampled.flow) {
    case Instruction::Flow::Call:
      return top_of_stack(at) == next && at.pc != next;
    case Instruction::Flow::End:  // a return, or a jump through memory: the pc is anywhere
      return at.pc != next;
    default:
      return at.pc == next || (at.pc == instruction && is_repeated(instruction, at.memory));
  }
}

}  // namespace hpcrun
