#pragma once
// The signals that we use, as the program sees them: it may handle, block, ignore or wait for them as if we
// were not there, while in the kernel they are always ours and never blocked.
//
// For each owned signal there is one virtual action per process and one virtual blocked bit per thread.
// A signal that is not a sample is forwarded according to these. Masks are sets of bits, n-1 for signal n.
// All calls are async-signal-safe unless they say otherwise.

#include <pthread.h>
#include <signal.h>

#include <cstdint>

#include "hpcrun/process/pending_signals.h"

namespace hpcrun {

// Takes the signals over: installs the handler, and remembers the action and the blocked state found.
// Not async-signal-safe; at start-up and in a forked child.
void own_signals(SignalMask signals) noexcept;
SignalMask owned_signals() noexcept;

// Of the owned signals those that are never blocked in the kernel: all but the released ones.
SignalMask held_signals() noexcept;

// Nothing of ours raises the signal any more: from now on it is blocked, pending and waited for in the kernel
// as the program asks; only its handler stays virtual, for the threads whose masks cannot be changed from
// here. If the program ignores it, so does the kernel.
void release_signal(int signal) noexcept;

// A real-time signal that nobody handles, we do not own and is not in the set; 0 when there is none. From the
// top, because programs take theirs from the bottom.
int unused_realtime_signal(SignalMask but_not = 0) noexcept;

// In a forked child, before own_signals(): undoes what other threads of the parent were about, and takes
// back what in_unmeasured_child() gave to the kernel.
void virtual_signals_after_fork() noexcept;

// True in a child of vfork() or of a raw fork, which shares or copies our memory but is not measured. What
// the program set is then in the kernel, which is to be asked and told everything.
bool in_unmeasured_child() noexcept;

// The calling thread's virtual blocked set.
SignalMask virtual_blocked() noexcept;

// The signal mask with which a thread is created. From construction to the end, in the creator, held signals
// are blocked in the kernel: the new thread begins with that mask, so that none reaches it before it has its
// virtual blocked set. Not async-signal-safe.
class CreatedMask {
 public:
  // The mask that the attributes (null: none) give, otherwise the creator's.
  explicit CreatedMask(const pthread_attr_t* attributes) noexcept;
  ~CreatedMask();
  CreatedMask(const CreatedMask&) = delete;
  CreatedMask& operator=(const CreatedMask&) = delete;

  struct Inherited {
    SignalMask blocked = 0;  // virtually
    SignalMask opens = 0;    // blocked in the kernel by the creator alone
  };
  const Inherited& inherited() const noexcept { return inherited_; }

 private:
  Inherited inherited_;
  SignalMask kernel_before_ = 0;
};

// In the new thread, before code of the program.
void inherit_mask(const CreatedMask::Inherited& inherited) noexcept;

// Blocks nothing of ours in the kernel: what is blocked there becomes virtually blocked.
void adopt_kernel_mask() noexcept;

// The program's sigaction() on an owned signal.
void set_virtual_action(int signal, const struct sigaction& action) noexcept;
struct sigaction virtual_action(int signal) noexcept;

// Replaces the virtual blocked set and delivers what was pending and is not blocked any more.
void set_virtual_blocked(SignalMask blocked) noexcept;

// Whether the kernel may drop the signal when the program sends it to a thread, for one of ours that waits
// for that thread already.
bool may_lose(int signal) noexcept;

// Sends such a signal to a thread of this process, with what it tells, by way of the pending ones: whichever
// of the two the kernel keeps, the thread finds it. False where it was not sent, as the thread is not there.
bool send_virtually(const siginfo_t& info, int tid) noexcept;

// From construction to end() the thread's virtual blocked set is another one, and held signals are blocked in
// the kernel: a system call has to let them in.
class VirtualMask {
 public:
  explicit VirtualMask(SignalMask blocked) noexcept;
  void end() noexcept;

 private:
  SignalMask blocked_before_;
  SignalMask kernel_before_;
};

// From construction to end() the thread waits for owned signals in the kernel as well (sigwait and its kin).
class VirtualWait {
 public:
  explicit VirtualWait(SignalMask waited) noexcept;
  void end() noexcept;

  // A signal that is pending virtually; 0 when there is none.
  int take(siginfo_t& info) noexcept;

 private:
  SignalMask waited_;
  SignalMask kernel_before_;
};

// While alive, the kernel knows what an exec or a spawned process keeps: which held signals are ignored, and
// which the calling thread blocks. Pending ones are kept by exec alone.
bool has_signals_to_show() noexcept;
class ShownSignals {
 public:
  explicit ShownSignals(bool with_pending) noexcept;
  ~ShownSignals();
  ShownSignals(const ShownSignals&) = delete;
  ShownSignals& operator=(const ShownSignals&) = delete;

 private:
  SignalMask ignored_ = 0;
  SignalMask blocked_ = 0;
};

inline SignalMask to_bits(const sigset_t& set) noexcept {
  return *reinterpret_cast<const SignalMask*>(&set);
}

inline void set_bits(sigset_t& set, SignalMask bits) noexcept {
  __builtin_memcpy(&set, &bits, sizeof bits);
}

// What the kernel is told of a mask of the program's.
inline sigset_t without_held(const sigset_t& set) noexcept {
  sigset_t kernel = set;
  set_bits(kernel, to_bits(set) & ~held_signals());
  return kernel;
}

}  // namespace hpcrun
