#pragma once
// Decodes the effect of one instruction on rsp and on the flow of control (Zydis). Async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct StackEffect {
  enum class Kind : uint8_t {
    None,      // rsp is unchanged; a call is assumed to return
    Adds,      // rsp += amount
    Pushes,    // rsp -= 8, and writes there
    Pops,      // rsp += 8, into the register
    Loads,     // rsp = [rsp + amount]
    Copies,    // rsp = register + amount
    Leaves,    // rsp = rbp, and pops rbp
    Branches,  // to the target, or to the next instruction
    Jumps,     // to the target
    Returns,
    Unknown,  // rsp, or the next instruction, depends on other values
  };

  Kind kind = Kind::Unknown;
  uint8_t length = 0;
  uint8_t reg = 0;     // its x86 number: rax, rcx, rdx, rbx, rsp, rbp, ...
  int64_t amount = 0;  // bytes
  uint64_t target = 0;
};

// Decodes the instruction at the address. Returns false if the bytes are not a valid instruction, or are
// truncated.
[[nodiscard]] bool decode_stack_effect(const uint8_t* bytes, size_t count, uint64_t address,
                                       StackEffect& out) noexcept;

}  // namespace hpcrun
