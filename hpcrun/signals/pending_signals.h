#pragma once
// Signals of the program that the kernel does not keep for it, and the threads that wait for them. There are
// two kinds. The first was taken while the program blocks it, and stays here until the program unblocks it or
// waits for it. The second is being sent to a thread, where one of the runtime's may have the only place in
// the kernel. All calls are async-signal-safe and take no lock.

#include <signal.h>

#include <cstdint>

namespace hpcrun {

using SignalMask = uint64_t;  // bit n-1 for signal n; there is no signal 0
constexpr SignalMask mask_of(int signal) {
  return signal == 0 ? 0 : SignalMask{1} << (signal - 1);
}

// The signals of which the kernel keeps one per thread, and drops others that are sent.
constexpr SignalMask kStandardSignals = 0x7fff'ffff;

// Stores a signal for the thread, or for any thread of the process if tid is 0. As in the kernel, a standard
// signal is pending once, and real-time signals queue. Returns false if the queue is full: the signal is
// dropped.
bool put_pending(const siginfo_t& info, int tid) noexcept;

// Takes the oldest signal of this number that the calling thread may take. Returns false if there is none.
bool take_pending(int signal, siginfo_t& info) noexcept;

// Returns the signals that are pending for the calling thread.
SignalMask pending_here() noexcept;

// Drops the signal, because its action is now "ignore".
void remove_pending(int signal) noexcept;

// Drops the signal for one thread, to which it cannot be sent.
void remove_pending_of(int signal, int tid) noexcept;

// Passes all stored signals of this number, for any thread, to the kernel. The runtime does not raise the
// signal any more.
void give_pending_to_kernel(int signal) noexcept;

// The calling thread waits for these signals (sigwait and similar), blocked in the kernel, until end_wait().
// Each of them that is put for the process wakes it.
void begin_wait(SignalMask waited) noexcept;
void end_wait() noexcept;

// Makes the thread check for stored signals, by a signal for which is_wake_up() is true. It may arrive late.
// If a signal of this number is pending for the thread already, that one arrives instead. Returns a negated
// errno if there is no such thread.
long wake(int tid, int signal) noexcept;
bool is_wake_up(const siginfo_t& info) noexcept;

// Called in a forked child: nothing is pending, and no thread waits.
void pending_signals_after_fork() noexcept;

}  // namespace hpcrun
