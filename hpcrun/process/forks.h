#pragma once
// What fork() leaves of the measuring in the parent and in the child (docs/sampling.md).

namespace hpcrun {

// Has the C library call the runtime around each fork from now on; called once. Not async-signal-safe.
void follow_forks() noexcept;

// Around an exec of a forked child that waits for its first sample: the process that executes another program
// is counted as that one, unless the exec fails.
void leave_uncounted_before_exec() noexcept;
void count_after_failed_exec() noexcept;

}  // namespace hpcrun
