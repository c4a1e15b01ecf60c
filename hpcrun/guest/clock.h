#pragma once
// Monotonic time, cheap and the kernel's own: `clock_gettime` by name could be the program's, or that of a
// tool preloaded beside us that fakes time, which may lock or lie.

#include <cstdint>

namespace hpcrun {

// Looks the vDSO's clock up. Call once before handlers can run; not async-signal-safe.
void find_vdso_clock() noexcept;

// From now on the clock is read by system call: the processor's counter, which the vDSO reads, is about to be
// forbidden to a thread (PR_SET_TSC), and so to threads that it creates.
void stop_using_vdso_clock() noexcept;

// CLOCK_MONOTONIC in ns: by the vDSO (vdso(7)), or by system call where there is none. Async-signal-safe.
uint64_t monotonic_ns() noexcept;

}  // namespace hpcrun
