#pragma once
// `ps` and /proc/PID/cmdline read a process's arguments and environment from private memory alone, so where
// the main stack is common they would be empty. Not async-signal-safe.

namespace hpcrun {

// Shows a copy of both as they are now. What the program writes over them later, as some do to state what
// they are at, is not shown. Nothing happens where the kernel has no such call (CONFIG_CHECKPOINT_RESTORE).
void show_arguments() noexcept;

}  // namespace hpcrun
