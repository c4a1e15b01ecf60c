#pragma once
// Walks the call stack of the interrupted thread. Called by the sample path, in a signal handler, on the
// interrupted thread. Reads only the published, immutable module tables and the stack itself. Takes no lock,
// allocates nothing, and calls neither the loader nor another unwinder. Call frame information that no table
// row can hold is interpreted here, including DWARF expressions, so libunwind is not needed.
// Async-signal-safe.

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/frame.h"
#include "hpcrun/unwind/walk_record.h"

namespace hpcrun {

// The stack that a thread was started on, [low, high). Words inside it above the stack pointer are loaded
// directly, all others through a fault-safe read.
struct StackBounds {
  uint64_t low = 0;
  uint64_t high = 0;
};

struct Stack {
  FrameKey* frames = nullptr;  // leaf first; owned by the Unwinder, valid until its next walk
  uint32_t depth = 0;
  StackReason reason = StackReason::EndOfStack;
};

// Returns the frame key of a code address, or 0 if no known module has it.
FrameKey frame_of(const void* code) noexcept;

class Unwinder {
 public:
  // Allocates the state of walks in the arena (about 200 KiB). Returns false if there is no memory.
  [[nodiscard]] bool attach(Arena& arena, StackBounds bounds) noexcept;

  // Sets the thread's stack if it was not known at attach(). Must be called by the thread itself.
  void set_stack(StackBounds bounds) noexcept;
  [[nodiscard]] StackBounds stack() const noexcept;

  // Returns the start of an instruction at or shortly before a code address, according to call frame
  // information. Returns the address itself if there is none.
  uint64_t instruction_before(uint64_t address) noexcept;

  // Walks from the interrupted context. Never fails: if the stack is not complete, `reason` has the cause.
  Stack walk(const ucontext_t& context) noexcept;

  // The same, and records what the result depends on.
  Stack walk(const ucontext_t& context, WalkRecord& record) noexcept;

 private:
  struct State;
  template <bool kRecord>
  Stack walk_from(const ucontext_t& context, WalkRecord* record) noexcept;
  State* state_ = nullptr;
};

}  // namespace hpcrun
