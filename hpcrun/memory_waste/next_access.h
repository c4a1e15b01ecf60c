#pragma once
// Chooses the access that a clock sample stands for: the next store, or the next load, in program order from
// the interrupted instruction. Async-signal-safe.

#include <cstdint>

#include "hpcrun/model/access_plan.h"
#include "hpcrun/model/instruction.h"

namespace hpcrun {

struct NextAccess {
  enum class Found : uint8_t {
    Placed,
    Unplaced,  // its address depends on values that are not known at the sample
    None,      // the thread leaves the function first, or the path is too long to follow
  };

  Found found = Found::None;
  Access access{};
};

// `plan`: for PlanFor::EveryAccess. `wanted`: Read or Write.
NextAccess next_access(const AccessPlan& plan, const MachineState& state, AccessKind wanted,
                       const MemoryReader& memory) noexcept;

// Reads and decodes an instruction, with its implicit stack accesses.
[[nodiscard]] bool decode_at(uint64_t address, const MemoryReader& code, Instruction& out) noexcept;

// The most bytes that a repeated string instruction accesses at once. Microcode may report a hit after a
// whole chunk.
constexpr uint64_t kStringChunk = 64;

// True if the instruction at the address is a string instruction with a repeat prefix, which accesses memory
// several times before the pc moves on.
[[nodiscard]] bool is_repeated(uint64_t address, const MemoryReader& code) noexcept;

}  // namespace hpcrun
