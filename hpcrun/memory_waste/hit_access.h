#pragma once
// Determines what the instruction that hit a breakpoint did to the watched bytes. The thread stopped after
// that instruction. Async-signal-safe.

#include <cstdint>

#include "hpcrun/contention/plan_cache.h"
#include "hpcrun/memory_waste/watched_bytes.h"

namespace hpcrun {

// Where the thread stopped, and what it can read.
struct HitAt {
  const MachineState& state;
  uint64_t pc;
  uint64_t begin;  // as for plan_accesses()
  const MemoryReader& memory;
  const uint8_t* now;  // the watched bytes
};

struct HitAccess {
  Touch touch = Touch::Unknown;
  ByteMask touched = 0;
  uint64_t instruction = 0;  // 0: not known. A return is represented by the call that it returns from.
  bool is_call = false;      // the call that entered the function at the pc, whose frame is the caller's
};

// `begin_of`: returns the start of code from which decoding can proceed to an address (Unwinder).
HitAccess hit_access(const WatchedBytes& watched, const HitAt& at, PlanCache& plans,
                     uint64_t (*begin_of)(void* context, uint64_t address) noexcept, void* context) noexcept;

// True if the thread stopped after an execution of `instruction`: the sampled access itself, which hits its
// own breakpoint.
[[nodiscard]] bool is_after(uint64_t instruction, const HitAt& at) noexcept;

}  // namespace hpcrun
