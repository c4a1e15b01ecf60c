#include "hpcrun/unwind/rule_step.h"

#include <catch2/catch.hpp>
#include <map>

using namespace hpcrun;

namespace {

struct Words {
  std::map<uint64_t, uint64_t> at;
  bool load(uint64_t address, uint64_t& value) noexcept {
    const auto found = at.find(address);
    if (found == at.end()) return false;
    value = found->second;
    return true;
  }
};

Registers frame_at(uint64_t rsp, uint64_t rbp, uint64_t rip) {
  Registers frame{};
  for (unsigned reg = 0; reg < kRegisterCount; ++reg) frame.set(reg, 1'000 + reg);
  frame.set(kRsp, rsp);
  frame.set(kRbp, rbp);
  frame.set(kReturnAddress, rip);
  return frame;
}

Rule rule_of(RuleKind kind, uint8_t reg, int32_t offset) {
  Rule rule;
  rule.kind = kind;
  rule.cfa_register = reg;
  rule.cfa_offset = offset;
  return rule;
}

}  // namespace

TEST_CASE("a rule leads to the caller's registers") {
  Words memory{{{0x1018, 0xcafe}, {0x1010, 0xb0b}, {0x1008, 12}}};
  Rule rule = rule_of(RuleKind::RegisterOffset, kRsp, 32);
  rule.rbp = RegisterLocation::at(RegisterLocation::Cfa, -16);
  rule.r12 = RegisterLocation::at(RegisterLocation::Rsp, 8);
  rule.r13 = RegisterLocation::undefined();
  const Registers frame = frame_at(0x1000, 5, 6);
  Registers caller;
  REQUIRE(step_by_rule(rule, frame, true, memory, caller) == RuleStep::Ok);
  CHECK(caller.value[kRsp] == 0x1020);
  CHECK(caller.value[kReturnAddress] == 0xcafe);
  CHECK(caller.value[kRbp] == 0xb0b);
  CHECK(caller.value[kR12] == 12);
  CHECK(caller.value[kRbx] == 1'000 + kRbx);
  CHECK_FALSE(caller.has(kR13));
  CHECK_FALSE(caller.has(kRax));  // calls do not preserve it
  REQUIRE(step_by_rule(rule, frame, false, memory, caller) == RuleStep::Ok);
  CHECK(caller.value[kRbp] == 0xb0b);
  CHECK_FALSE(caller.has(kR12));
}

TEST_CASE("a rule may load the CFA, or choose it by the place in a linkage table") {
  Words memory{{{0x2010, 0x3000}, {0x2ff8, 7}, {0x1000, 8}, {0x1008, 9}}};
  Registers caller;
  REQUIRE(step_by_rule(rule_of(RuleKind::Deref, kRbp, 16), frame_at(0x1000, 0x2000, 0), false, memory,
                       caller) == RuleStep::Ok);
  CHECK(caller.value[kRsp] == 0x3000);
  CHECK(caller.value[kReturnAddress] == 7);
  for (const uint64_t location : {10u, 11u}) {
    REQUIRE(step_by_rule(rule_of(RuleKind::Plt, kRsp, 11), frame_at(0x1000, 0, 0x400 + location), false,
                         memory, caller) == RuleStep::Ok);
    CHECK(caller.value[kReturnAddress] == (location < 11 ? 8 : 9));
  }
}

TEST_CASE("all registers are recovered from the kernel's signal frame") {
  Words memory;
  for (unsigned reg = 0; reg < kRegisterCount; ++reg)
    memory.at[0x1000 + static_cast<uint64_t>(kernel_frame_offset(reg))] = 100 + reg;
  Registers caller;
  REQUIRE(step_by_rule(kernel_frame_rule(), frame_at(0x1000, 0, 0), true, memory, caller) == RuleStep::Ok);
  CHECK(caller.known == kAllRegisters);
  for (unsigned reg = 0; reg < kRegisterCount; ++reg) CHECK(caller.value[reg] == 100 + reg);
}

TEST_CASE("a step that cannot be made says why") {
  Words memory;
  Registers caller;
  Registers frame = frame_at(0x1000, 0x2000, 0);
  CHECK(step_by_rule(rule_of(RuleKind::RegisterOffset, kRsp, 16), frame, true, memory, caller) ==
        RuleStep::Unreadable);
  CHECK(step_by_rule(rule_of(RuleKind::Deref, kRsp, 16), frame, true, memory, caller) ==
        RuleStep::Unreadable);
  Rule rule = rule_of(RuleKind::RegisterOffset, kRsp, 16);
  rule.return_address = RegisterLocation::undefined();
  CHECK(step_by_rule(rule, frame, true, memory, caller) == RuleStep::NoReturnAddress);
  frame.known &= ~(1u << kR12);
  CHECK(step_by_rule(rule_of(RuleKind::RegisterOffset, kR12, 16), frame, true, memory, caller) ==
        RuleStep::UnknownRegister);
  CHECK(step_by_rule(rule_of(RuleKind::RegisterOffset, 200, 16), frame, true, memory, caller) ==
        RuleStep::UnknownRegister);
}
