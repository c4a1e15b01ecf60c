#pragma once
// Signals of the program's that the kernel does not keep for it: those that were taken while it blocks them,
// until it unblocks or waits for them, and those on their way to a thread, in whose kernel one of ours may
// have the only place. And the threads that wait. All calls are async-signal-safe and take no lock.

#include <signal.h>

#include <cstdint>

namespace hpcrun {

using SignalMask = uint64_t;  // bit n-1 for signal n; signal 0 is none
constexpr SignalMask mask_of(int signal) {
  return signal == 0 ? 0 : SignalMask{1} << (signal - 1);
}

// Of these the kernel keeps one of a kind for a thread, and drops others that are sent to it.
constexpr SignalMask kStandardSignals = 0x7fff'ffff;

// Keeps a signal for the thread, or for any thread of the process when tid is 0. As in the kernel a standard
// signal is pending once, real-time signals queue. False where the queue is full: the signal is dropped.
bool put_pending(const siginfo_t& info, int tid) noexcept;

// Takes the oldest of the signal that the calling thread may take; false when there is none.
bool take_pending(int signal, siginfo_t& info) noexcept;

// The signals of which the calling thread may take one.
SignalMask pending_here() noexcept;

// The action is "ignore" now.
void drop_pending(int signal) noexcept;

// Of one thread, to which it cannot be sent.
void drop_pending_of(int signal, int tid) noexcept;

// Nothing of ours raises the signal any more: all that are kept, for whichever thread, go into the kernel.
void give_pending_to_kernel(int signal) noexcept;

// The calling thread waits for the signals (sigwait and its kin), blocked in the kernel, until end_wait().
// Each process-directed signal of these that is put wakes it.
void begin_wait(SignalMask waited) noexcept;
void end_wait() noexcept;

// Has the thread look for what was put, by a signal that is_wake_up(). It may come late, and where another of
// its kind waits for the thread already, that one comes instead. A negated errno where there is no such
// thread.
long wake(int tid, int signal) noexcept;
bool is_wake_up(const siginfo_t& info) noexcept;

// In a forked child: nothing is pending, nobody waits.
void pending_signals_after_fork() noexcept;

}  // namespace hpcrun
