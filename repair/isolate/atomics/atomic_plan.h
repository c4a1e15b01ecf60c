#pragma once
// Plans how a jump replaces each atomic instruction of a module. For one user at a time. Async-signal-safe
// except as CodeFunctions says.
//
// A jump has five bytes: e9 and the distance, least significant byte first. If the instruction is shorter,
// the last bytes of the distance are the first bytes of the next instruction. These stay as they are, and the
// trampoline lies where the resulting distance leads. Prefixes without effect before the e9 give other
// distances (punned jumps: Duck, Gao, Roychoudhury, Binary Rewriting without Control Flow Recovery, PLDI
// 2020, tactics B1 and B2). If all these places are taken, a jump to a copy of the next instruction replaces
// that instruction too, and its bytes are chosen to suit (tactic T2). Every instruction still begins at its
// old address, so all references to instructions stay valid.
//
// Instructions are replaced from the last to the first, so the bytes after each are final.

#include <cstddef>
#include <cstdint>

#include "repair/isolate/atomics/code_functions.h"
#include "repair/isolate/atomics/mapped_array.h"
#include "repair/isolate/atomics/trampoline.h"
#include "repair/isolate/atomics/trampoline_places.h"

namespace hpcrun {

constexpr size_t kJumpBytes = 5;
constexpr size_t kDistanceBytes = 4;

// The bytes of an instruction that change: all of them, or the first kJumpBytes.
struct CodePatch {
  uint64_t address = 0;
  uint8_t bytes = 0;
  uint8_t before[kJumpBytes] = {};
  uint8_t after[kJumpBytes] = {};
};

// An instruction that was moved to make room, and its copy.
struct MovedCode {
  uint64_t address = 0;
  uint64_t copy = 0;
  uint8_t length = 0;        // of the instruction
  uint8_t copied_bytes = 0;  // including the jump back
};

// More than any program with its libraries has.
constexpr size_t kMaxSites = 1 << 18;

struct AtomicPlans {
  MappedArray<AtomicSite, kMaxSites> sites;
  MappedArray<MovedCode, kMaxSites> moved;
  MappedArray<CodePatch, 2 * kMaxSites> patches;
};

class AtomicPlanner {
 public:
  AtomicPlanner(AtomicPlans& plans, TrampolinePlaces& places, const TrampolineTargets& targets) noexcept
      : plans_(plans), places_(places), targets_(targets) {}

  // Plans all functions of a module in [low, high), and writes the trampolines. Returns nullptr, or the
  // reason for a failure as a clause; what was added to the plans is then unusable.
  const char* plan(const CodeFunctions& functions, uint64_t low, uint64_t high) noexcept;

  // Tactics for instructions shorter than a jump, in the order in which they are tried.
  enum class Tactic : uint8_t { Punned, Prefixed, NextMoved };
  // Skips the tactics before this one, so that tests can exercise each.
  void begin_with(Tactic tactic) noexcept { first_tactic_ = tactic; }

 private:
  const char* plan_function(const CodeFunction& function) noexcept;
  const char* plan_site(const PlacedCode& instruction, const CodeFunction& function) noexcept;
  const char* note_function(const CodeFunction& function) noexcept;
  bool is_entered_within(const PlacedCode& instruction) const noexcept;

  uint8_t final_byte(uint64_t address) const noexcept;
  void final_bytes(uint64_t address, uint8_t (&bytes)[kDistanceBytes]) const noexcept;
  uint64_t place_punned(const PlacedCode& instruction, size_t bytes, uint8_t& prefixes) noexcept;
  uint64_t place_by_moving_next(const PlacedCode& instruction, size_t bytes, const CodeFunction& function,
                                uint8_t& prefixes) noexcept;
  uint64_t place_moved(const PlacedCode& instruction, uint8_t prefixes, const uint8_t* distance, int chosen,
                       const uint8_t* behind) noexcept;
  bool add_patch(const PlacedCode& instruction, uint8_t prefixes, uint64_t target) noexcept;

  AtomicPlans& plans_;
  TrampolinePlaces& places_;
  const TrampolineTargets& targets_;
  size_t first_patch_ = 0;  // of the module
  Tactic first_tactic_ = Tactic::Punned;

  // For the current function.
  MappedArray<uint64_t, kMaxSites> own_sites_;
  MappedArray<uint64_t, 1 << 20> branch_targets_;  // sorted
};

}  // namespace hpcrun
