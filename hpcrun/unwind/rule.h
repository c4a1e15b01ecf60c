#pragma once
// Defines the unwind rule of one address, small enough for tables and caches: how to get from a frame to its
// caller. With r = the frame's registers and *x = the word at x:
//   RegisterOffset  CFA = r[cfa_register] + cfa_offset
//   Deref           CFA = *(r[cfa_register] + cfa_offset)           realigned stacks, signal frames
//   Plt             CFA = rsp + 8 + 8 * ((rip & 15) >= cfa_offset)  .plt, before or after it pushed its index
//
// Then caller.rsp = CFA, caller.rip = *return_address, and each callee-saved register is loaded from its
// location.

#include <cstdint>

#include "hpcrun/unwind/cfi.h"

namespace hpcrun {

enum class RuleKind : uint8_t {
  None = 0,  // no call frame information here
  RegisterOffset,
  Deref,
  Plt,
  EndOfStack,    // the return address is undefined: the outermost frame
  Interpret,     // needs the CFI machine: cfa_offset is the index of the program in the table
  FramePointer,  // chosen by the walk for code without CFI
};

// Location of the caller's value of a register. Bits 1..0: base, bits 15..2: signed offset in words.
class RegisterLocation {
 public:
  enum Base : uint8_t { Cfa = 0, Rbp = 1, Rsp = 2, Special = 3 };

  constexpr RegisterLocation() noexcept = default;
  static constexpr RegisterLocation unchanged() noexcept { return RegisterLocation(Special | 0 << 2); }
  static constexpr RegisterLocation undefined() noexcept { return RegisterLocation(Special | 1 << 2); }
  [[nodiscard]] static constexpr bool fits(int64_t offset) noexcept {
    return offset % 8 == 0 && offset / 8 >= -8192 && offset / 8 <= 8191;
  }
  static constexpr RegisterLocation at(Base base, int64_t offset) noexcept {
    return RegisterLocation(static_cast<uint16_t>(static_cast<uint16_t>(offset / 8) << 2 | base));
  }

  [[nodiscard]] constexpr Base base() const noexcept { return static_cast<Base>(bits_ & 3); }
  constexpr int64_t offset() const noexcept { return int64_t{static_cast<int16_t>(bits_) >> 2} * 8; }
  [[nodiscard]] constexpr bool is_unchanged() const noexcept { return *this == unchanged(); }
  constexpr bool operator==(const RegisterLocation&) const noexcept = default;

 private:
  explicit constexpr RegisterLocation(unsigned bits) noexcept : bits_(static_cast<uint16_t>(bits)) {}
  uint16_t bits_ = Special;
};

constexpr uint8_t kRuleSignalFrame = 1;  // the caller was interrupted: look it up at its pc, not before it
constexpr uint8_t kRuleKernelFrame = 2;  // the caller's registers are all in a ucontext at rsp
constexpr uint8_t kRuleSimple = 4;       // CFA from rsp or rbp, return address at CFA - 8, others at the CFA
constexpr uint8_t kRuleLive = 8;         // Interpret: from the module's own bytes, not from a table
constexpr uint8_t kRuleStays = 16;       // FramePointer: the code after the call does not leave the function

struct Rule {
  RuleKind kind = RuleKind::None;
  uint8_t flags = 0;
  uint8_t cfa_register = kRsp;
  uint8_t unused = 0;
  int32_t cfa_offset = 0;
  RegisterLocation return_address = RegisterLocation::at(RegisterLocation::Cfa, -8);
  RegisterLocation rbp = RegisterLocation::unchanged();
  RegisterLocation rbx = RegisterLocation::unchanged();
  RegisterLocation r12 = RegisterLocation::unchanged();
  RegisterLocation r13 = RegisterLocation::unchanged();
  RegisterLocation r14 = RegisterLocation::unchanged();
  RegisterLocation r15 = RegisterLocation::unchanged();
  uint16_t unused2 = 0;

  constexpr bool operator==(const Rule&) const noexcept = default;
};
static_assert(sizeof(RegisterLocation) == 2);
static_assert(sizeof(Rule) == 24);

// Returns the rule of a CFI row. Its kind is Interpret (cfa_offset 0) if the row does not fit into a rule.
Rule make_rule(const CfiRow& row, bool signal_frame) noexcept;

// Returns the rule of the kernel's signal frame, for restorers without call frame information.
Rule kernel_frame_rule() noexcept;

// Returns the offset of general register n (DWARF number; 16 = rip) in the ucontext that the kernel leaves at
// the stack pointer of a signal frame (struct rt_sigframe without its return address).
constexpr int64_t kernel_frame_offset(unsigned dwarf_register) noexcept {
  constexpr uint8_t kGregIndex[kRegisterCount] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16};
  return 40 + 8 * int64_t{kGregIndex[dwarf_register]};
}

}  // namespace hpcrun
