#pragma once
// The signals of isolation, and masks that keep them unblocked. Sets of bits, bit n-1 for signal n. A trap
// kills the program if SIGSYS is blocked, so no thread of the session blocks it in the kernel. What the
// program requested is kept in the thread's record. All calls are async-signal-safe.

#include <signal.h>

#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

constexpr uint64_t signal_bit(int signal) {
  return uint64_t{1} << (signal - 1);
}

constexpr uint64_t kAllSignals = ~uint64_t{0};
// Signals that an instruction raises. The converted thread passes them to its original.
constexpr uint64_t kFaultSignals =
    signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) | signal_bit(SIGFPE) | signal_bit(SIGTRAP);

// Returns SIGSYS and the request signal.
uint64_t own_signal_bits() noexcept;

// Returns the signals of the timers by which the runtime samples, or 0.
uint64_t sample_signal_bit() noexcept;

// Returns the mask of a converted thread as the kernel shows it, without SIGKILL and SIGSTOP. A converted
// thread takes only our signals and faults; what is sent to its process group reaches the program's process
// too. Must be called by a thread of a session.
uint64_t converted_mask() noexcept;

// The signals that our request and fault handlers block, and threads that begin a session: all but those that
// an instruction raises.
constexpr uint64_t kHandlerMask = kAllSignals & ~kFaultSignals & ~signal_bit(SIGSYS);

inline uint64_t mask_bits(const sigset_t& set) noexcept {
  return *reinterpret_cast<const uint64_t*>(&set);
}
inline void set_mask_bits(sigset_t& set, uint64_t bits) noexcept {
  __builtin_memcpy(&set, &bits, sizeof bits);
}

// Returns the previous mask.
inline uint64_t set_kernel_mask(uint64_t mask) noexcept {
  uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), reinterpret_cast<long>(&before),
              sizeof mask);
  return before;
}

// The kernel's layout, which differs from the C library's (sigaction(2)).
struct KernelAction {
  void* handler = nullptr;
  unsigned long flags = 0;
  void* restorer = nullptr;
  uint64_t mask = 0;
};

constexpr unsigned long kRestorerFlag = 0x04000000;  // SA_RESTORER

inline long kernel_action(int signal, const KernelAction* action, KernelAction* before) noexcept {
  return raw_syscall(SYS_rt_sigaction, signal, reinterpret_cast<long>(action), reinterpret_cast<long>(before),
                     sizeof(uint64_t));
}

}  // namespace hpcrun
