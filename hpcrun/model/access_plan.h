#pragma once
// Determines which memory an interrupted thread accesses. A sample's pc is past the access that the thread
// waited for, usually by one instruction or a few; in a loop, the same access comes again. Therefore the
// instructions from the pc on are followed, through jumps and the back edge of a loop, and the instructions
// just before the pc are decoded. Addresses are computed from the sampled registers, and from their values
// when each instruction is reached.
//
// A plan depends on the code alone and is made once for each pc; applying it to a sample is cheap.
// Async-signal-safe.

#include <cstddef>
#include <cstdint>

#include "hpcrun/model/machine_state.h"
#include "hpcrun/model/memory_access.h"

namespace hpcrun {

// Copies up to `bytes` of code or data from an address of the sampled program. Returns the number of bytes
// copied.
struct MemoryReader {
  size_t (*read)(const void* context, uint64_t address, void* to, size_t bytes) noexcept;
  const void* context;
};

struct PlannedAccess {
  Expression address;
  uint64_t instruction = 0;  // its address
  uint16_t bytes = 0;
  AccessKind kind = AccessKind::Read;
  Segment segment = Segment::None;
  bool is_locked = false;  // by a lock prefix, or an exchange with memory
  int8_t distance = 0;     // in instructions from the pc: 0 at the pc, -1 just before it
  bool is_placed = true;   // false: the address is not known; only with PlanFor::EveryAccess
};

// A value computed by an instruction on the way, on which later addresses depend.
struct DerivedValue {
  enum class How : uint8_t { Zero32, Sign32, Load, LoadSigned };
  Expression of;  // cut to 32 bits and extended, or the address of the value loaded
  How how = How::Zero32;
  uint8_t bytes = 0;  // for a load: 1, 2, 4 or 8
};

constexpr uint32_t kMaxPlannedAccesses = 16;
constexpr uint32_t kMaxDerivedValues = 16;
constexpr uint32_t kMaxFollowedInstructions = 24;
constexpr uint32_t kMaxPrecedingInstructions = 4;
constexpr uint32_t kMaxReplayedInstructions = 12;  // before the pc, to compute addresses
constexpr uint64_t kMaxPrecedingBytes = 4096;      // from `begin` to the pc

// An access of the instruction just before the pc whose address follows neither from the registers nor from
// the instructions before.
struct UnplacedAccess {
  uint16_t bytes = 0;  // 0: there is none
  AccessKind kind = AccessKind::Read;
  bool is_locked = false;
};

struct AccessPlan {
  PlannedAccess accesses[kMaxPlannedAccesses];
  DerivedValue derived[kMaxDerivedValues];
  uint8_t count = 0;
  uint8_t derived_count = 0;
  UnplacedAccess unplaced;
  uint64_t preceding = 0;  // address of the instruction just before the pc; 0: not known
};

// Working memory of planning. A handler's stack may be 8 KiB, of which the kernel's frame takes up to 3.5
// KiB. Therefore the caller provides it elsewhere, per thread. Holds nothing between calls.
struct PlanWorkspace {
  alignas(8) unsigned char bytes[2048];
};

enum class PlanFor : uint8_t {
  // Accesses to data that threads may share: those relative to the stack pointer are left out.
  SharedData,
  // All accesses, implicit ones of push, pop, call and ret included, up to the first call, return or indirect
  // jump after the pc. Those after the pc whose address is not known are in the plan, but not placed.
  EveryAccess,
};

// Plans the accesses at a pc. `begin`: the start of an instruction at or before the pc, from which decoding
// proceeds. It is the function's start, or an address within it that unwind information names; the pc itself
// if nothing is known.
void plan_accesses(uint64_t begin, uint64_t pc, const MemoryReader& code, PlanWorkspace& workspace,
                   AccessPlan& plan, PlanFor purpose = PlanFor::SharedData) noexcept;

struct Access {
  uint64_t address;
  uint64_t instruction;
  uint16_t bytes;
  AccessKind kind;
  bool is_locked;
  int8_t distance;
};

// Computes the plan's accesses for these registers. `out` must have room for kMaxPlannedAccesses. Accesses
// through pointers that cannot be read are left out. Returns the number of accesses.
uint32_t apply_plan(const AccessPlan& plan, const MachineState& state, const MemoryReader& memory,
                    Access* out) noexcept;

}  // namespace hpcrun
