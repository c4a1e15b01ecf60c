#pragma once
// A virtual view of the signals that the runtime uses. The program may handle, block, ignore or wait for them
// as if the runtime did not exist. In the kernel they always have the runtime's handler, and are never
// blocked.
//
// Each owned signal has one virtual action per process and one virtual blocked bit per thread. A signal that
// is not a sample is forwarded according to these. Masks are sets of bits, n-1 for signal n. All calls are
// async-signal-safe unless they say otherwise.

#include <pthread.h>
#include <signal.h>

#include <cstdint>

#include "hpcrun/signals/pending_signals.h"

namespace hpcrun {

// Takes over the signals: installs the handler, and stores the previous action and blocked state. Called at
// start-up and in a forked child. Not async-signal-safe.
void own_signals(SignalMask signals) noexcept;
SignalMask owned_signals() noexcept;

// Returns the owned signals that are never blocked in the kernel: all but the released ones.
SignalMask held_signals() noexcept;

// Releases a signal that the runtime does not raise any more. From now on it is blocked, pending and waited
// for in the kernel as the program requests. Only its handler stays virtual, for threads whose masks cannot
// be changed from here. If the program ignores it, so does the kernel.
void release_signal(int signal) noexcept;

// Returns a real-time signal that has no handler, is not owned, and is not in the set; 0 if there is none.
// Searches from the highest, because programs use the lowest first.
int unused_realtime_signal(SignalMask but_not = 0) noexcept;

// Called in a forked child, before own_signals(). Resets what other threads of the parent were changing, and
// takes back what in_unmeasured_child() gave to the kernel.
void virtual_signals_after_fork() noexcept;

// True in a child of vfork() or of a raw fork, which shares or copies our memory but is not measured. The
// program's settings are in the kernel then, and all calls must be passed to it.
bool in_unmeasured_child() noexcept;

// Returns the calling thread's virtual blocked set.
SignalMask virtual_blocked() noexcept;

// The signal mask with which a thread is created. While this object lives in the creator, held signals are
// blocked in the kernel. The new thread begins with that mask, so that no signal reaches it before it has its
// virtual blocked set. Not async-signal-safe.
class CreatedMask {
 public:
  // Uses the mask of the attributes (may be null), or else the creator's.
  explicit CreatedMask(const pthread_attr_t* attributes) noexcept;
  ~CreatedMask();
  CreatedMask(const CreatedMask&) = delete;
  CreatedMask& operator=(const CreatedMask&) = delete;

  struct Inherited {
    SignalMask blocked = 0;  // virtually
    SignalMask opens = 0;    // blocked in the kernel only for the creation
  };
  const Inherited& inherited() const noexcept { return inherited_; }

 private:
  Inherited inherited_;
  SignalMask kernel_before_ = 0;
};

// Called in the new thread, before code of the program.
void inherit_mask(const CreatedMask::Inherited& inherited) noexcept;

// Unblocks held signals in the kernel: those that were blocked there become virtually blocked.
void adopt_kernel_mask() noexcept;

// The program's sigaction() on an owned signal.
void set_virtual_action(int signal, const struct sigaction& action) noexcept;
struct sigaction virtual_action(int signal) noexcept;

// Replaces the virtual blocked set, and delivers signals that were pending and are no longer blocked.
void set_virtual_blocked(SignalMask blocked) noexcept;

// True if the kernel may drop the signal when the program sends it to a thread, because one of ours is
// pending for that thread already.
bool may_lose(int signal) noexcept;

// Sends such a signal, with its data, to a thread of this process by storing it as pending. Whichever of the
// two signals the kernel keeps, the thread finds it. Returns false if the thread does not exist.
bool send_virtually(const siginfo_t& info, int tid) noexcept;

// Replaces the thread's virtual blocked set from construction to end(). Held signals are blocked in the
// kernel meanwhile, so that a system call has to unblock them.
class VirtualMask {
 public:
  explicit VirtualMask(SignalMask blocked) noexcept;
  void end() noexcept;

 private:
  SignalMask blocked_before_;
  SignalMask kernel_before_;
};

// Has the thread wait for owned signals in the kernel as well (sigwait and similar), from construction to
// end().
class VirtualWait {
 public:
  explicit VirtualWait(SignalMask waited) noexcept;
  void end() noexcept;

  // Returns a signal that is pending virtually; 0 if there is none.
  int take(siginfo_t& info) noexcept;

 private:
  SignalMask waited_;
  SignalMask kernel_before_;
};

// While it lives, the kernel has the state that an exec or a spawned process inherits: which held signals are
// ignored, and which the calling thread blocks. Pending signals are inherited by exec only.
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

// Returns the part of the program's mask that the kernel gets.
inline sigset_t without_held(const sigset_t& set) noexcept {
  sigset_t kernel = set;
  set_bits(kernel, to_bits(set) & ~held_signals());
  return kernel;
}

}  // namespace hpcrun
