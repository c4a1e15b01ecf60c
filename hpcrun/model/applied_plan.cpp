#include <cstring>

#include "hpcrun/model/access_plan.h"

namespace hpcrun {

namespace {

constexpr uint32_t value_bit(uint8_t derived) noexcept {
  return 1u << (kGeneralRegisters + derived);
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

// Evaluates all registers and derived values. Returns one bit for each that is not available.
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

uint32_t apply_plan(const AccessPlan& plan, const MachineState& state, const MemoryReader& memory,
                    Access* out) noexcept {
  static_assert(kGeneralRegisters + kMaxDerivedValues <= 32);
  uint64_t values[kGeneralRegisters + kMaxDerivedValues] = {};
  const uint32_t missing = evaluate_values(plan, state, memory, values);
  uint32_t count = 0;
  for (uint8_t i = 0; i < plan.count; ++i) {
    const PlannedAccess& planned = plan.accesses[i];
    if (!planned.is_placed || planned.address.values() & missing) continue;
    uint64_t address = evaluate(planned.address, values);
    if (planned.segment == Segment::Fs) address += state.fs_base;
    if (planned.segment == Segment::Gs) address += state.gs_base;
    out[count++] = {address,      planned.instruction, planned.bytes,
                    planned.kind, planned.is_locked,   planned.distance};
  }
  return count;
}

}  // namespace hpcrun
