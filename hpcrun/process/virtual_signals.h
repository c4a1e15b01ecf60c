#pragma once
// The signals that we use, as the program sees them: it may handle, block, ignore or wait for them as if we
// were not there, while in the kernel they are always ours and never blocked.
//
// For each owned signal there is one virtual action per process and one virtual blocked bit per thread.
// A signal that is not a sample is forwarded according to these. Masks are sets of bits, n-1 for signal n.

#include <signal.h>

#include <cstdint>

namespace hpcrun {

using SignalMask = uint64_t;
constexpr SignalMask mask_of(int signal) {
  return SignalMask{1} << (signal - 1);
}

// Takes the signals over: installs the handler, and remembers the action and the blocked state found.
// Not async-signal-safe; at start-up and in a forked child.
void own_signals(SignalMask signals) noexcept;
SignalMask owned_signals() noexcept;

// Of the owned signals those that are never blocked in the kernel: all but the released ones.
SignalMask held_signals() noexcept;

// Nothing of ours raises the signal any more: from now on it is blocked, pending and waited for in the kernel
// as the program asks; only its action stays virtual, for the threads whose masks cannot be changed from
// here.
void release_signal(int signal) noexcept;

// The calling thread's virtual blocked set; a new thread inherits its creator's.
SignalMask virtual_blocked() noexcept;
void inherit_virtual_blocked(SignalMask blocked) noexcept;

// The program's sigaction() on an owned signal. Async-signal-safe.
void set_virtual_action(int signal, const struct sigaction& action) noexcept;
struct sigaction virtual_action(int signal) noexcept;

// Replaces the virtual blocked set and delivers what was pending and is not blocked any more. True when
// something was delivered. Async-signal-safe.
bool set_virtual_blocked(SignalMask blocked) noexcept;
SignalMask virtual_pending() noexcept;

// While alive, the thread waits for owned signals in the kernel as well (sigwait and its kin), and a
// forwarded signal that it could take is handed to it.
class VirtualWait {
 public:
  explicit VirtualWait(SignalMask waited) noexcept;
  ~VirtualWait();
  VirtualWait(const VirtualWait&) = delete;
  VirtualWait& operator=(const VirtualWait&) = delete;

  // A signal that was already pending virtually; 0 when there is none.
  int take_pending(siginfo_t& info) noexcept;

  // What the kernel returned, as the signal was before another thread handed it over.
  static void unwrap(siginfo_t& info) noexcept;

 private:
  SignalMask waited_;
  SignalMask kernel_before_ = 0;
};

// The kernel's view of a set the program gave: without owned signals.
inline SignalMask to_bits(const sigset_t& set) noexcept {
  return *reinterpret_cast<const SignalMask*>(&set);
}

}  // namespace hpcrun
