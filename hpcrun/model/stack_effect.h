#pragma once
// What one instruction does to the stack pointer, and where it goes, decoded by Zydis. Async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct StackEffect {
  enum class Kind : uint8_t {
    None,      // rsp stays, or is the same again afterwards (a call that returns)
    Adds,      // rsp += amount
    Pushes,    // rsp -= 8, and writes there
    Pops,      // rsp += 8, into the register
    Loads,     // rsp = [rsp + amount]
    Copies,    // rsp = register + amount
    Leaves,    // rsp = rbp, and pops rbp
    Branches,  // to the target, or to the next instruction
    Jumps,     // to the target
    Returns,
    Unknown,  // rsp, or the next instruction, depends on something else
  };

  Kind kind = Kind::Unknown;
  uint8_t length = 0;
  uint8_t reg = 0;     // in the order of encoding: rax, rcx, rdx, rbx, rsp, rbp, ...
  int64_t amount = 0;  // bytes
  uint64_t target = 0;
};

// Decodes the instruction at the address. Returns false if these bytes are no instruction, or end within one.
bool decode_stack_effect(const uint8_t* bytes, size_t count, uint64_t address, StackEffect& out) noexcept;

}  // namespace hpcrun
