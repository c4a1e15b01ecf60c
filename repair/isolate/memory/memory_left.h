#pragma once
// Whether there is memory for what the program has to be there twice, as far as the kernel says: of the
// machine, and of the group of processes that limits the process as /sys/fs/cgroup shows it.
// Async-signal-safe.

namespace hpcrun {

bool has_memory_for_twice() noexcept;

}  // namespace hpcrun
