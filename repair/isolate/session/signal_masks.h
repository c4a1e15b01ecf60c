#pragma once
// The signals of isolation, and the masks that keep them unblocked. Sets of bits, n-1 for signal n. A trap
// that finds SIGSYS blocked kills the program, so the kernel never has it in a mask of a thread of the
// session; what the program asked for is remembered. All calls are async-signal-safe.

#include <signal.h>

#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

constexpr uint64_t signal_bit(int signal) {
  return uint64_t{1} << (signal - 1);
}

constexpr uint64_t kAllSignals = ~uint64_t{0};
// What an instruction raises: the converted thread hands these to its original.
constexpr uint64_t kFaultSignals =
    signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) | signal_bit(SIGFPE) | signal_bit(SIGTRAP);

// SIGSYS and the request signal.
uint64_t own_signal_bits() noexcept;

// Of timers by which the runtime samples; 0: there are none.
uint64_t sample_signal_bit() noexcept;

// A converted thread takes nothing but these and faults: what is sent to its process group reaches the
// program's process too. As the kernel shows it: without the two that it never blocks. Of a thread of a
// session.
uint64_t converted_mask() noexcept;

// What our handlers of requests and faults block, and threads that begin a session: all but what an
// instruction of theirs raises.
constexpr uint64_t kHandlerMask = kAllSignals & ~kFaultSignals & ~signal_bit(SIGSYS);

inline uint64_t mask_bits(const sigset_t& set) noexcept {
  return *reinterpret_cast<const uint64_t*>(&set);
}
inline void set_mask_bits(sigset_t& set, uint64_t bits) noexcept {
  __builtin_memcpy(&set, &bits, sizeof bits);
}

// Returns the mask before.
inline uint64_t set_kernel_mask(uint64_t mask) noexcept {
  uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), reinterpret_cast<long>(&before),
              sizeof mask);
  return before;
}

// The kernel's own layout, which the C library's is not (sigaction(2)).
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
