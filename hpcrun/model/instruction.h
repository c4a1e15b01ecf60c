#pragma once
// Decodes an instruction with Zydis into what is needed to follow a thread. Async-signal-safe.

#include <cstddef>
#include <cstdint>

#include "hpcrun/model/machine_state.h"
#include "hpcrun/model/memory_access.h"

namespace hpcrun {

constexpr uint8_t kNoRegister = 0xff;

struct MemoryOperand {
  // General registers; kNoRegister also for rip, which is added to the displacement.
  uint8_t base = kNoRegister;
  uint8_t index = kNoRegister;
  uint8_t scale = 1;
  Segment segment = Segment::None;
  int64_t displacement = 0;
  uint16_t bytes = 0;
  AccessKind kind = AccessKind::Read;
};

struct Instruction {
  enum class Flow : uint8_t {
    Next,
    Jump,
    Branch,
    Call,
    End
  };  // End: a return, or a jump without a fixed target

  // Effect on one general register, used to follow addresses.
  enum class Effect : uint8_t {
    None,
    Move,      // target = source, extended according to `extension`
    Constant,  // target = immediate
    Add,       // target += immediate
    AddRegister,
    Shift,    // target <<= immediate
    Address,  // target = the sum of `memory` (lea)
    Load,     // target = the value loaded
  };

  uint8_t length = 0;
  Flow flow = Flow::Next;
  uint64_t target = 0;  // of a jump, branch or call; 0: not fixed

  MemoryOperand memory[2];
  uint8_t memory_count = 0;  // accesses in `memory`; the operand of Address is in memory[0] and not counted
  bool is_locked = false;
  uint8_t rip_offset_at = 0;  // position in the instruction of the 32 bits relative to rip; 0: none

  Effect effect = Effect::None;
  uint8_t target_register = kNoRegister;
  uint8_t source_register = kNoRegister;
  int64_t immediate = 0;
  enum class Extension : uint8_t { None, Zero32, Sign32 } extension = Extension::None;  // of the low 32 bits
  bool sign_extends = false;                                                            // for a Load

  uint16_t written = 0;  // general registers that it changes, one bit each
  int8_t pushed = 0;     // by how much it lowers the stack pointer: push, pop; 0 also if it sets it otherwise
};

constexpr size_t kMaxInstructionBytes = 15;

// Whether `memory` includes the implicit stack accesses of push, pop, call, ret and leave.
enum class StackAccesses : bool { Excluded, Included };

// Returns false if the bytes are not an instruction, or end within one.
[[nodiscard]] bool decode(const uint8_t* bytes, size_t count, uint64_t address, Instruction& out,
                          StackAccesses stack = StackAccesses::Excluded) noexcept;

// Decodes only the length, and whether memory is locked, in a third of the time. Returns 0 if the bytes are
// not an instruction.
uint8_t decode_length(const uint8_t* bytes, size_t count, bool& is_locked) noexcept;

}  // namespace hpcrun
