#pragma once
// Which memory an interrupted thread is at. A sample's pc lies behind the access that it waited for, most
// often by an instruction or a few; in a loop the same access comes again. So the instructions from the pc on
// are followed, through jumps and the back edge of a loop, and those just before it are looked at; the
// registers of the sample, and what they will be when each instruction is reached, give the addresses.
//
// A plan depends on the code alone and is made once for each pc; applying it to a sample is cheap.
// Async-signal-safe.

#include <cstddef>
#include <cstdint>

#include "hpcrun/model/machine_state.h"
#include "hpcrun/model/memory_access.h"

namespace hpcrun {

// Copies up to `bytes` of code or data from an address of the sampled program, and says how many there were.
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
  bool is_locked = false;  // by prefix, or an exchange with memory
  int8_t distance = 0;     // in instructions from the pc: 0 is at it, -1 just before it
};

// A value that an instruction on the way makes, on which later addresses depend.
struct DerivedValue {
  enum class How : uint8_t { Zero32, Sign32, Load, LoadSigned };
  Expression of;  // cut to 32 bits and extended, or the address of what is loaded
  How how = How::Zero32;
  uint8_t bytes = 0;  // of a load: 1, 2, 4 or 8
};

constexpr uint32_t kMostPlannedAccesses = 16;
constexpr uint32_t kMostDerivedValues = 16;
constexpr uint32_t kMostFollowedInstructions = 24;
constexpr uint32_t kMostPrecedingInstructions = 4;
constexpr uint32_t kMostReplayedInstructions = 12;  // before the pc, to compute their addresses
constexpr uint64_t kMostPrecedingBytes = 4096;  // from `begin` to the pc

// An access of the instruction just before the pc whose address neither the registers nor the instructions
// before give.
struct UnplacedAccess {
  uint16_t bytes = 0;  // 0: there is none
  AccessKind kind = AccessKind::Read;
  bool is_locked = false;
};

struct AccessPlan {
  PlannedAccess accesses[kMostPlannedAccesses];
  DerivedValue derived[kMostDerivedValues];
  uint8_t count = 0;
  uint8_t derived_count = 0;
  UnplacedAccess unplaced;
};

// Memory that planning works in. A handler may have a stack of 8 KiB, of which the kernel's frame takes up to
// 3.5: so the caller has it elsewhere, for each thread. Holds nothing between calls.
struct PlanWorkspace {
  alignas(8) unsigned char bytes[2048];
};

// `begin`: where an instruction at or before the pc begins, from which decoding goes forward: the function,
// or a place in it that unwind information names; the pc itself where nothing is known. What the stack
// pointer addresses is left out.
void plan_accesses(uint64_t begin, uint64_t pc, const MemoryReader& code, PlanWorkspace& workspace,
                   AccessPlan& plan) noexcept;

struct Access {
  uint64_t address;
  uint64_t instruction;
  uint16_t bytes;
  AccessKind kind;
  bool is_locked;
  int8_t distance;
};

// What the plan comes to with these registers; `out` has room for kMostPlannedAccesses. Accesses through
// pointers that cannot be read are left out. How many there are.
uint32_t apply_plan(const AccessPlan& plan, const MachineState& state, const MemoryReader& memory,
                    Access* out) noexcept;

}  // namespace hpcrun
