#pragma once
// Signals that a program sends to one of its threads (send_calls.cpp).

namespace hpcrun {

using SystemCallFunction = long(long, long, long, long, long, long, long);

// The function that is to answer such a call of syscall() in its place, because it sends a signal of ours to
// a thread; nullptr for all others. Async-signal-safe, as what it returns is.
SystemCallFunction* sends_to_thread(long number, long b, long c) noexcept;

}  // namespace hpcrun
