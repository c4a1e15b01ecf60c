#pragma once
// Calls of the kernel that threads wait in as a session begins. The request signal ends some of them early,
// with EINTR, whatever SA_RESTART says (signal(7), "Interruption of system calls"): they are begun again, so
// that the program sees nothing of it. In a session the handler of dispatched calls does that
// (trapped_call.cpp); before it nobody knows the call but the kernel (/proc/PID/task/TID/syscall).
//
// All calls are async-signal-safe.

#include <ucontext.h>

#include <cstdint>

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// By whoever begins the session: before the first thread is sent the request signal, and before each.
void forget_calls() noexcept;
void note_call_of(int tid) noexcept;

// In the handler of that signal, for the thread that it interrupted: where the noted call ended by EINTR, the
// context is that before it. False: nothing is changed.
bool begin_call_again(ucontext_t& context) noexcept;

// As a handler of the program's returns to this context: where that is before a call that was begun again,
// and not made yet, the handler ends it with EINTR, as it would have in the call.
void end_call_begun_again(ThreadRecord& record, ucontext_t& context) noexcept;

// A function of the C library that the calling thread is in, and waits for a time that counts from its call.
struct TimedWait {
  uint64_t since_ns = 0;  // CLOCK_MONOTONIC
  uint64_t frame = 0;     // on the stack, above the function's; the program may have jumped out of it
};
extern thread_local constinit TimedWait timed_wait __attribute__((tls_model("initial-exec")));

// Since when a call of the kernel waits that is made with this stack; 0: that is not known.
uint64_t waits_since_ns(uint64_t stack) noexcept;

}  // namespace hpcrun
