#pragma once
// Signals that a program sends to one of its threads (send_calls.cpp).

namespace hpcrun {

using SystemCallFunction = long(long, long, long, long, long, long, long);

// Returns the function that answers such a call of syscall(), because it sends an owned signal to a thread;
// nullptr for all others. Async-signal-safe, and so is the function.
SystemCallFunction* sends_to_thread(long number, long b, long c) noexcept;

}  // namespace hpcrun
