#pragma once
// Checks how much memory is left, on the machine and in the cgroup that /sys/fs/cgroup shows.

namespace hpcrun {

// True if as much memory is left as the process has resident, or if the kernel does not report it.
// Async-signal-safe.
bool has_memory_for_twice() noexcept;

}  // namespace hpcrun
