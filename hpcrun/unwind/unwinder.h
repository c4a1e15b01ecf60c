#pragma once
// Walks the call stack of the interrupted thread. Called by the sample path, inside a signal handler, on the
// thread that was interrupted. Reads only published, immutable module tables and the stack itself; takes no
// lock, allocates nothing, and calls neither the loader nor another unwinder: call frame information that no
// table row can hold is interpreted here, by expression where need be, so that libunwind has nothing left to
// do. Async-signal-safe.

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/unwind/frame.h"
#include "hpcrun/unwind/walk_record.h"

namespace hpcrun {

// The stack a thread was started on, [low, high); words inside it above the stack pointer are loaded
// directly, everything else through a fault-safe read.
struct StackBounds {
  uint64_t low = 0;
  uint64_t high = 0;
};

struct Stack {
  FrameKey* frames = nullptr;  // leaf first; owned by the Unwinder, valid until its next walk
  uint32_t depth = 0;
  StackReason reason = StackReason::EndOfStack;
};

// The frame key of a code address; 0 when no module that is known has it.
FrameKey frame_of(const void* code) noexcept;

class Unwinder {
 public:
  // Takes what the walk needs from the arena (about 200 KiB). Returns false when there is no memory.
  bool attach(Arena& arena, StackBounds bounds) noexcept;

  // The thread's stack, where attach() could not know it. By the thread itself.
  void set_stack(StackBounds bounds) noexcept;
  StackBounds stack() const noexcept;

  // Where an instruction begins, at or before a code address and not far from it, as the call frame
  // information tells; the address itself where it does not.
  uint64_t instruction_before(uint64_t address) noexcept;

  // Walks from the interrupted context. Never fails: what it could not walk is in reason.
  Stack walk(const ucontext_t& context) noexcept;

  // The same, and what its result depends on.
  Stack walk(const ucontext_t& context, WalkRecord& record) noexcept;

 private:
  struct State;
  template <bool kRecord>
  Stack walk_from(const ucontext_t& context, WalkRecord* record) noexcept;
  State* state_ = nullptr;
};

}  // namespace hpcrun
