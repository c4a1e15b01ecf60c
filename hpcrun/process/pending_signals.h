#pragma once
// Signals of the program's that were taken while it blocks them, until it unblocks or waits for them, and the
// threads that wait. All calls are async-signal-safe and take no lock.

#include <signal.h>

#include <cstdint>

namespace hpcrun {

using SignalMask = uint64_t;  // bit n-1 for signal n; signal 0 is none
constexpr SignalMask mask_of(int signal) {
  return signal == 0 ? 0 : SignalMask{1} << (signal - 1);
}

// Keeps a signal for the thread, or for any thread of the process when tid is 0. As in the kernel a standard
// signal is pending once, real-time signals queue; a full queue drops the newest.
void put_pending(const siginfo_t& info, int tid) noexcept;

// Takes the oldest of the signal that the calling thread may take; false when there is none.
bool take_pending(int signal, siginfo_t& info) noexcept;

// The signals of which the calling thread may take one.
SignalMask pending_here() noexcept;

// The action is "ignore" now.
void drop_pending(int signal) noexcept;

// The calling thread waits for the signals (sigwait and its kin), blocked in the kernel, until end_wait().
// Each process-directed signal of these that is put wakes it by a signal that is_wake_up(); it may come late.
void begin_wait(SignalMask waited) noexcept;
void end_wait() noexcept;
bool is_wake_up(const siginfo_t& info) noexcept;

// In a forked child: nothing is pending, nobody waits.
void pending_signals_after_fork() noexcept;

}  // namespace hpcrun
