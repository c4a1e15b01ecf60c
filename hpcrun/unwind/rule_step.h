#pragma once
// Steps from a frame to its caller by a rule of an unwind table: the one definition, for the walk in the
// measured process and for the one over stacks that were copied (prof/external_sampler). Async-signal-safe if
// the memory is.

#include <cassert>
#include <concepts>
#include <cstdint>

#include "hpcrun/unwind/registers.h"
#include "hpcrun/unwind/rule.h"

namespace hpcrun {

// Loads the word at an address, or returns false.
template <typename Memory>
concept WordMemory = requires(Memory& memory, uint64_t address, uint64_t& value) {
  { memory.load(address, value) }
  noexcept->std::same_as<bool>;
};

enum class RuleStep : uint8_t {
  Ok,
  UnknownRegister,  // the rule uses one that the frame does not have
  Unreadable,       // a load failed
  NoReturnAddress,
};

// Computes the caller's registers by a rule of the kinds RegisterOffset, Deref and Plt. `caller` must not
// alias `frame`; unless the result is Ok, its contents are unspecified. With `with_all`, the callee-saved
// registers are recovered too, and not only those with which most stacks are walked.
template <WordMemory Memory>
[[nodiscard]] RuleStep step_by_rule(const Rule& rule, const Registers& frame, bool with_all, Memory& memory,
                                    Registers& caller) noexcept {
  assert(&caller != &frame);
  uint64_t cfa;
  if (rule.kind == RuleKind::Plt) {
    const bool has_pushed = (frame.value[kReturnAddress] & 15) >= static_cast<uint64_t>(rule.cfa_offset);
    cfa = frame.value[kRsp] + 8 + (has_pushed ? 8 : 0);
  } else {
    if (!frame.has(rule.cfa_register)) return RuleStep::UnknownRegister;
    cfa = frame.value[rule.cfa_register] + static_cast<uint64_t>(int64_t{rule.cfa_offset});
    if (rule.kind == RuleKind::Deref) {
      const uint64_t location = cfa;
      if (!memory.load(location, cfa)) return RuleStep::Unreadable;
    }
  }
  caller.known = 0;
  caller.set(kRsp, cfa);

  const auto recover = [&](unsigned reg, RegisterLocation location) -> bool {
    uint64_t at = static_cast<uint64_t>(location.offset());
    switch (location.base()) {
      case RegisterLocation::Cfa:
        at += cfa;
        break;
      case RegisterLocation::Rbp:
        if (!frame.has(kRbp)) return true;
        at += frame.value[kRbp];
        break;
      case RegisterLocation::Rsp:
        at += frame.value[kRsp];
        break;
      case RegisterLocation::Special:
        if (location.is_unchanged() && frame.has(reg)) caller.set(reg, frame.value[reg]);
        return true;
    }
    uint64_t value;
    if (!memory.load(at, value)) return false;
    caller.set(reg, value);
    return true;
  };
  bool loaded = recover(kReturnAddress, rule.return_address) && recover(kRbp, rule.rbp);
  if (loaded && with_all) {
    loaded = recover(kRbx, rule.rbx) && recover(kR12, rule.r12) && recover(kR13, rule.r13) &&
             recover(kR14, rule.r14) && recover(kR15, rule.r15);
    if (loaded && (rule.flags & kRuleKernelFrame)) {
      for (unsigned reg = 0; loaded && reg < kRegisterCount; ++reg) {
        loaded = recover(reg, RegisterLocation::at(RegisterLocation::Rsp, kernel_frame_offset(reg)));
      }
    }
  }
  if (!loaded) return RuleStep::Unreadable;
  return caller.has(kReturnAddress) ? RuleStep::Ok : RuleStep::NoReturnAddress;
}

}  // namespace hpcrun
