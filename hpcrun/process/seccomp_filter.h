#pragma once
// Predicts how a seccomp filter that the program is about to install treats system calls. The runtime's calls
// must neither be answered by a signal nor end the program. Pure functions: no memory, no system call.

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>

namespace hpcrun {

// Returns the filter's answer to the call (SECCOMP_RET_...), as the kernel computes it. Returns
// SECCOMP_RET_KILL_PROCESS for a filter that the kernel would refuse.
uint32_t filter_answer(const sock_filter* filter, size_t count, const seccomp_data& call) noexcept;

// True if the filter allows all calls of a measured process, or refuses them with an error.
bool bears_measuring(const sock_filter* filter, size_t count) noexcept;

}  // namespace hpcrun
