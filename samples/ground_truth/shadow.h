#pragma once
// The program's own record of its call path, kept so that the true path is known at every instruction.
//
// A caller pushes the callee before the call and pops it after (Call); the callee records that it has begun
// (enter). Between the push and the callee's first instruction, and between its last one and the pop, the
// record is one entry ahead. The function at the program counter shows which is the case, because no function
// calls itself directly. If the program counter is in code without a record (the C library, the PLT), the
// phase shows it.
//
// Functions that are called from outside (by qsort, or the kernel) push themselves (Self).

#include <cstdint>

namespace ground_truth {

// clang-format never reaches a fixed point on a list like this.
// clang-format off
#define GROUND_TRUTH_FUNCTIONS(X) \
  X(run) X(even) X(odd) X(leaf) X(tail_first) X(tail_second) X(tail_third) X(sorter) X(compare) X(catcher) \
  X(thrower) X(raiser) X(on_signal) X(on_trap) X(trap) X(with_alloca) X(realigned) X(realigned_alloca) \
  X(with_varargs) X(sum_varargs) X(coroutine_body) X(switch_context) X(rethrow_path) X(library_entry) \
  X(library_middle) X(library_leaf) X(library_tail) X(foreach) X(visit) X(force_aligned)
// clang-format on

enum Function : uint16_t {
  kNone = 0,
#define X(name) k_##name,
  GROUND_TRUTH_FUNCTIONS(X)
#undef X
      kFunctionCount
};

enum class Phase : uint8_t { Running, Calling };

// The activity of the program, by which samples are counted.
enum class Scenario : uint8_t {
  Recursion250,
  Recursion2000,
  TailCalls,
  Plt,
  Sort,
  Exceptions,
  Signals,
  Alloca,
  Realigned,
  Varargs,
  Coroutines,
  StrippedLibrary,
  Traps,
  Count
};

struct Shadow {
  static constexpr uint32_t kCapacity = 4096;
  volatile uint32_t depth = 0;
  volatile Phase phase = Phase::Running;
  volatile bool switching = false;     // between two stacks, where the truth is not known
  volatile uint16_t replaced = kNone;  // the function that passed its frame on by a tail call
  volatile uint16_t ids[kCapacity] = {};
};

// One per thread; `current` follows the stack. The test's signal handler reads it.
struct ThreadTruth {
  Shadow* volatile current = nullptr;
  volatile Scenario scenario = Scenario::Recursion250;
  volatile uint64_t work = 0;
};
extern thread_local ThreadTruth thread_truth __attribute__((tls_model("initial-exec")));

class Call {
 public:
  Call(Shadow& shadow, Function callee) : shadow_(shadow) {
    shadow.phase = Phase::Calling;
    const uint32_t depth = shadow.depth;
    shadow.ids[depth] = callee;
    shadow.depth = depth + 1;
  }
  ~Call() { shadow_.depth = shadow_.depth - 1; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  Shadow& shadow_;
};

class Self {
 public:
  Self(Shadow& shadow, Function self) : shadow_(shadow) {
    const uint32_t depth = shadow.depth;
    shadow.ids[depth] = self;
    shadow.depth = depth + 1;
  }
  ~Self() { shadow_.depth = shadow_.depth - 1; }
  Self(const Self&) = delete;
  Self& operator=(const Self&) = delete;

 private:
  Shadow& shadow_;
};

inline void enter(Shadow& shadow) {
  shadow.phase = Phase::Running;
}

// Must be called immediately before `return callee(...)`.
inline void hand_on(Shadow& shadow, Function self, Function callee) {
  shadow.replaced = self;
  shadow.phase = Phase::Calling;
  shadow.ids[shadow.depth - 1] = callee;
}

constexpr bool pushes_itself(uint16_t function) {
  return function == k_compare || function == k_on_signal || function == k_on_trap || function == k_visit;
}

// The true path is ids[0, depth) followed by `extra` (unless kNone).
struct Truth {
  bool known = false;
  uint32_t depth = 0;
  uint16_t extra = kNone;
};

// `running`: the function of the interrupted instruction, or kNone if it has no record.
inline Truth true_path(const Shadow& shadow, uint16_t running) {
  const uint32_t depth = shadow.depth;
  const uint16_t top = depth >= 1 ? shadow.ids[depth - 1] : uint16_t{kNone};
  const uint16_t below = depth >= 2 ? shadow.ids[depth - 2] : uint16_t{kNone};
  const bool calling = shadow.phase == Phase::Calling;
  if (shadow.switching || depth == 0) return {};
  if (running == kNone) return {true, calling ? depth - 1 : depth, kNone};
  if (running == top) return {true, depth, kNone};
  if (running == below) return {true, depth - 1, kNone};
  if (calling && running == shadow.replaced) return {true, depth - 1, running};
  if (pushes_itself(running)) return {true, depth, running};
  return {};
}

#define GROUND_TRUTH_FUNCTION extern "C" __attribute__((noipa, visibility("default")))

}  // namespace ground_truth
