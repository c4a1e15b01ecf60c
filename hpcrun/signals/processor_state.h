#pragma once
// Processor state that the kernel keeps in handlers, but with which the runtime cannot work. One is the
// alignment check, under which unaligned loads fault. The other is a thread pointer (the base of fs) of the
// program's own, with which no thread-local variable is found. All calls are async-signal-safe and access no
// thread-local variable.

#include <cstdint>

namespace hpcrun {

// The interrupted state, as far as it was changed.
struct InterruptedState {
  bool checks_alignment = false;
  uint64_t thread_pointer = 0;  // the program's own; 0: it was the C library's
};

// Records the thread pointer of the calling thread, which is the C library's now. A handler that interrupts
// the thread with another thread pointer restores this one.
void note_thread_pointer() noexcept;

// Sets the state that the runtime needs, at the start of a handler. Returns false if no thread pointer of the
// C library's is known for the thread; no thread-local variable may be accessed then.
bool enter_own_state(InterruptedState& interrupted) noexcept;

// Restores the interrupted state, for a handler of the program's or at the end.
void leave_own_state(const InterruptedState& interrupted) noexcept;

}  // namespace hpcrun
