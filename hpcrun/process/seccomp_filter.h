#pragma once
// What a seccomp filter that the program is about to install makes of system calls: the runtime's must
// neither be answered by a signal nor end the program. Pure functions: no memory, no system call.

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Returns what the filter answers to the call (SECCOMP_RET_...), as the kernel computes it.
// SECCOMP_RET_KILL_PROCESS for a filter that the kernel would not take.
uint32_t filter_answer(const sock_filter* filter, size_t count, const seccomp_data& call) noexcept;

// True if the filter lets all calls of a process that is measured pass, or refuses them by an error.
bool bears_measuring(const sock_filter* filter, size_t count) noexcept;

}  // namespace hpcrun
