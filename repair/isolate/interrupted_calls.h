#pragma once
// Calls of the kernel that threads wait in as a session begins. The request signal ends some of them early,
// with EINTR, whatever SA_RESTART says (signal(7), "Interruption of system calls"): they are begun again, so
// that the program sees nothing of it. In a session the handler of dispatched calls does that
// (trapped_calls.cpp); before it nobody knows the call but the kernel (/proc/PID/task/TID/syscall).
//
// All calls are async-signal-safe.

#include <ucontext.h>

#include <cstdint>

namespace hpcrun {

// By whoever begins the session: before the first thread is sent the request signal, and before each.
void forget_calls() noexcept;
void note_call_of(int tid) noexcept;

// In the handler of that signal, for the thread that it interrupted: where the noted call ended by EINTR, the
// context is that before it. False: nothing is changed.
bool begin_call_again(ucontext_t& context) noexcept;

// Since when the calling thread waits, in one of the C library's functions that the program called, for a
// time that counts from its call (CLOCK_MONOTONIC, ns); 0: in none.
extern thread_local constinit uint64_t waits_since_ns __attribute__((tls_model("initial-exec")));

}  // namespace hpcrun
