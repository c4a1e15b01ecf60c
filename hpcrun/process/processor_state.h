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

// The calling thread has the C library's thread pointer now: it is found again when a signal meets it with
// another.
void note_thread_pointer() noexcept;

// Gives the thread the state that the runtime needs, at the start of a handler. False if the thread is not
// known to have a thread pointer of the C library's: then no thread-local variable may be touched.
bool enter_own_state(InterruptedState& interrupted) noexcept;

// Takes it back, for a handler of the program's or at the end.
void leave_own_state(const InterruptedState& interrupted) noexcept;

}  // namespace hpcrun
