#pragma once
// The state of the processor in which a signal may find a thread, which the kernel leaves on in handlers and
// in which the runtime cannot work: the alignment check, under which unaligned loads fault, and a thread
// pointer (the base of fs) of the program's own, by which no thread-local variable is found. All calls are
// async-signal-safe and touch no thread-local variable.

#include <cstdint>

namespace hpcrun {

// What a signal interrupted, as far as it was changed.
struct InterruptedState {
  bool checks_alignment = false;
  uint64_t thread_pointer = 0;  // the program's own; 0: it was the C library's
};

// Notes the thread pointer of the calling thread, which is the C library's now: a signal that finds the
// thread with another one restores it.
void note_thread_pointer() noexcept;

// Sets the state that the runtime needs, at the start of a handler. Returns false if no thread pointer of the
// C library's is known for the thread: then no thread-local variable may be touched.
bool enter_own_state(InterruptedState& interrupted) noexcept;

// Restores the interrupted state, for a handler of the program's or at the end.
void leave_own_state(const InterruptedState& interrupted) noexcept;

}  // namespace hpcrun
