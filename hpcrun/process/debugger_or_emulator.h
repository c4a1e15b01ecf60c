#pragma once
// Detects a debugger that traces this process, or an emulator that runs its code: both receive our signals
// before the process does. Called while the process starts. Not async-signal-safe.

namespace hpcrun {

// True if a debugger traces this process already: it would stop at each sample. strace does not count,
// because it passes signals on.
bool is_debugged() noexcept;

// True if valgrind runs this process's code on its simulated processor. A sample would interrupt valgrind
// itself, which then terminates.
bool is_in_valgrind() noexcept;

}  // namespace hpcrun
