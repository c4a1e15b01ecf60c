#pragma once
// Restarts the system calls in which threads wait as a session begins. The request signal ends some of them
// early with EINTR, whatever SA_RESTART says (signal(7), "Interruption of system calls"); the program must
// not notice. During a session the handler of dispatched calls restarts them (trapped_call.cpp). Before it,
// only the kernel knows the call (/proc/PID/task/TID/syscall).
//
// All calls are async-signal-safe.

#include <ucontext.h>

#include <cstdint>

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

// Called by the thread that begins the session: clear_interrupted_calls() before it sends the first request
// signal, note_call_of() before each.
void clear_interrupted_calls() noexcept;
void note_call_of(int tid) noexcept;

// Called in the handler of the request signal. If the noted call ended with EINTR, rewinds the context to
// before the call. Returns false if nothing changed.
bool begin_call_again(ucontext_t& context) noexcept;

// Called as a handler of the program returns to this context. If the context is before a restarted call that
// has not been made yet, the handler ends that call with EINTR, as it would have during the call.
void end_call_begun_again(ThreadRecord& record, ucontext_t& context) noexcept;

// A C library function in which the calling thread waits for a time that counts from the function's call.
struct TimedWait {
  uint64_t since_ns = 0;  // CLOCK_MONOTONIC
  uint64_t frame = 0;     // stack address above the function's frame; the program may have jumped out of it
};
extern thread_local constinit TimedWait timed_wait __attribute__((tls_model("initial-exec")));

// Returns the time since which a system call with this stack pointer waits, or 0 if that is not known.
uint64_t waits_since_ns(uint64_t stack) noexcept;

}  // namespace hpcrun
