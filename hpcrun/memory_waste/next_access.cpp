#include "hpcrun/memory_waste/next_access.h"

namespace hpcrun {

namespace {

bool is_wanted(AccessKind kind, AccessKind wanted) noexcept {
  return wanted == AccessKind::Write ? writes(kind) : reads(kind);
}

const PlannedAccess* first_planned(const AccessPlan& plan, AccessKind wanted) noexcept {
  for (uint8_t i = 0; i < plan.count; ++i) {
    const PlannedAccess& planned = plan.accesses[i];
    if (planned.distance >= 0 && is_wanted(planned.kind, wanted)) return &planned;
  }
  return nullptr;
}

bool is_prefix(uint8_t byte) noexcept {
  return byte == 0x66 || byte == 0x67 || (byte >= 0x40 && byte <= 0x4f);
}

// movs, cmps, stos, lods and scas.
bool is_string_opcode(uint8_t byte) noexcept {
  return (byte >= 0xa4 && byte <= 0xa7) || (byte >= 0xaa && byte <= 0xaf);
}

}  // namespace

NextAccess next_access(const AccessPlan& plan, const MachineState& state, AccessKind wanted,
                       const MemoryReader& memory) noexcept {
  NextAccess next;
  const PlannedAccess* const planned = first_planned(plan, wanted);
  if (!planned) return next;
  next.found = NextAccess::Found::Unplaced;
  next.access = {0, planned->instruction, planned->bytes, planned->kind, false, planned->distance};
  if (!planned->is_placed) return next;
  Access accesses[kMaxPlannedAccesses];
  const uint32_t count = apply_plan(plan, state, memory, accesses);
  for (uint32_t i = 0; i < count; ++i) {
    const Access& access = accesses[i];
    if (access.distance != planned->distance || !is_wanted(access.kind, wanted)) continue;
    next.found = NextAccess::Found::Placed;
    next.access = access;
    return next;
  }
  return next;
}

bool decode_at(uint64_t address, const MemoryReader& code, Instruction& out) noexcept {
  uint8_t bytes[kMaxInstructionBytes];
  const size_t count = code.read(code.context, address, bytes, sizeof bytes);
  return count && decode(bytes, count, address, out, StackAccesses::Included);
}

bool is_repeated(uint64_t address, const MemoryReader& code) noexcept {
  uint8_t bytes[4] = {};
  const size_t count = code.read(code.context, address, bytes, sizeof bytes);
  bool repeats = false;
  for (size_t i = 0; i < count; ++i) {
    const bool is_repeat = bytes[i] == 0xf2 || bytes[i] == 0xf3;
    repeats |= is_repeat;
    if (!is_repeat && !is_prefix(bytes[i])) return repeats && is_string_opcode(bytes[i]);
  }
  return false;
}

}  // namespace hpcrun
