#pragma once
// Whom a signal of ours would meet before this process does: a debugger that traces it, or an emulator that
// runs its code. Asked while the process starts. Not async-signal-safe.

namespace hpcrun {

// True when a debugger traces this process already: it would stop at each sample. strace is none: it passes
// signals on.
bool is_debugged() noexcept;

// True when valgrind runs this process's code on its own processor. A sample would interrupt valgrind itself,
// which ends then.
bool is_in_valgrind() noexcept;

}  // namespace hpcrun
