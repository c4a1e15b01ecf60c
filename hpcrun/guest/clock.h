#pragma once
// Reads monotonic time, cheaply and from the kernel. The symbol `clock_gettime` could be the program's, or
// that of another preloaded tool that fakes time, which may lock or return wrong times.

#include <cstdint>

namespace hpcrun {

// Looks up the vDSO's clock. Must be called once before handlers can run; not async-signal-safe.
void find_vdso_clock() noexcept;

// Makes monotonic_ns() use the system call from now on. The vDSO reads the processor's counter, which is
// about to be forbidden to a thread (PR_SET_TSC), and thereby to threads that it creates.
void stop_using_vdso_clock() noexcept;

// Returns CLOCK_MONOTONIC in ns, from the vDSO (vdso(7)) or by a system call if there is none.
// Async-signal-safe.
uint64_t monotonic_ns() noexcept;

}  // namespace hpcrun
