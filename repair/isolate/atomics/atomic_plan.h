#pragma once
// How a jump takes the place of each atomic instruction of a module. For one user at a time;
// async-signal-safe but for what CodeFunctions says.
//
// A jump has five bytes: e9 and the distance, least byte first. Where the instruction is shorter the last
// bytes of the distance are the first ones of what follows, which stay as they are, and the trampoline lies
// where that leads (punned jumps: Duck, Gao, Roychoudhury, Binary Rewriting without Control Flow Recovery,
// PLDI 2020, tactics B1 and B2: prefixes that do nothing before the e9 lead elsewhere). Where all these
// places are taken the instruction that follows is replaced by a jump as well, to a copy of it, and its bytes
// are chosen to suit (tactic T2). So whatever else points at instructions stays right: each begins where it
// did.
//
// Instructions are taken from the last to the first, so that the bytes behind each are final.

#include <cstddef>
#include <cstdint>

#include "repair/isolate/atomics/code_functions.h"
#include "repair/isolate/atomics/mapped_array.h"
#include "repair/isolate/atomics/trampoline.h"
#include "repair/isolate/atomics/trampoline_places.h"

namespace hpcrun {

constexpr size_t kJumpBytes = 5;
constexpr size_t kDistanceBytes = 4;

// What of an instruction is changed: all of it, or its first kJumpBytes.
struct CodePatch {
  uint64_t address = 0;
  uint8_t bytes = 0;
  uint8_t before[kJumpBytes] = {};
  uint8_t after[kJumpBytes] = {};
};

// An instruction that made room, and its copy.
struct MovedCode {
  uint64_t address = 0;
  uint64_t copy = 0;
  uint8_t length = 0;        // of the instruction
  uint8_t copied_bytes = 0;  // with what leads back
};

// As many as any program and its libraries have.
constexpr size_t kMostSites = 1 << 18;

struct AtomicPlans {
  MappedArray<AtomicSite, kMostSites> sites;
  MappedArray<MovedCode, kMostSites> moved;
  MappedArray<CodePatch, 2 * kMostSites> patches;
};

class AtomicPlanner {
 public:
  AtomicPlanner(AtomicPlans& plans, TrampolinePlaces& places, const TrampolineTargets& targets) noexcept
      : plans_(plans), places_(places), targets_(targets) {}

  // Of all functions of a module that lie in [low, high), and writes the trampolines. nullptr, or why not, as
  // a clause; what was added to the plans until then is of no use.
  const char* plan(const CodeFunctions& functions, uint64_t low, uint64_t high) noexcept;

  // In the order in which they are tried for instructions that are shorter than a jump.
  enum class Tactic : uint8_t { Punned, Prefixed, NextMoved };
  // Leaves out what comes before, so that tests see each.
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

  // Of the function at hand.
  MappedArray<uint64_t, kMostSites> own_sites_;
  MappedArray<uint64_t, 1 << 20> branch_targets_;  // sorted
};

}  // namespace hpcrun
