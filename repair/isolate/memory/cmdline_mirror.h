#pragma once
// Keeps `ps` and /proc/PID/cmdline right. The kernel reads arguments and environment from private memory
// only, so both would be empty once the main stack is common.

namespace hpcrun {

// Has the kernel read a private copy of both as they are now. If the program overwrites its arguments later,
// to show what it is doing, that is not shown. Does nothing if the kernel lacks the call
// (CONFIG_CHECKPOINT_RESTORE). Not async-signal-safe.
void mirror_cmdline() noexcept;

}  // namespace hpcrun
